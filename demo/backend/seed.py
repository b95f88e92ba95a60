"""The fleet the demo starts with: the same sites, devices, readings and events on every machine.

All times are seconds *before* the moment of seeding, so that one fleet is deterministic and yet always looks current.
Addresses come from the ranges reserved for documentation (RFC 5737).
"""

from __future__ import annotations

from random import Random
from typing import Literal, NamedTuple, get_args

Status = Literal["online", "degraded", "offline", "maintenance"]
STATUSES: tuple[Status, ...] = get_args(Status)

MINUTE, HOUR, DAY = 60, 3600, 86_400
READINGS_PER_DEVICE = 24
SEED = "devices-demo-1"


class Site(NamedTuple):
    """A place with devices; ``code`` is what filters and agents use."""

    code: str
    name: str
    country: str
    areas: tuple[str, ...]


class Product(NamedTuple):
    """A kind of device that can be bought: how it is called on site, its model and the firmware in use."""

    kind: str
    prefix: str
    model: str
    firmware: tuple[str, ...]
    base_temperature: float
    base_latency: float


class Device(NamedTuple):
    """One device as it is seeded; ``last_seen`` is seconds before seeding."""

    id: str
    name: str
    site: str
    status: Status
    kind: str
    model: str
    firmware: str
    hostname: str
    ip: str
    serial: str
    note: str | None
    last_seen: int


class Reading(NamedTuple):
    """One hourly measurement; ``ago`` is seconds before seeding."""

    device_id: str
    ago: int
    temperature_c: float
    load_percent: int
    latency_ms: int


class Event(NamedTuple):
    """Something that happened to a device; ``ago`` is seconds before seeding."""

    device_id: str
    ago: int
    kind: Literal["status", "firmware", "service"]
    text: str


SITES = (
    Site("ANR-01", "Antwerp Left Bank", "Belgium", ("Tank farm", "Berth 12", "Rail yard", "Gatehouse")),
    Site("BIO-01", "Bilbao Outer Harbour", "Spain", ("Breakwater", "Cold store", "Quay 3", "Workshop")),
    Site("GDN-01", "Gdańsk Deepwater", "Poland", ("North hall", "Reefer stack", "Berth 2", "Office")),
    Site("GOA-01", "Genoa Voltri", "Italy", ("Gate A", "Crane row", "South hall", "Customs")),
    Site("GOT-01", "Gothenburg Skandia", "Sweden", ("Ro-ro ramp", "Warehouse 4", "Rail yard", "Pilot house")),
    Site("HAM-01", "Hamburg Burchardkai", "Germany", ("Loading dock", "North hall", "Crane row", "Control room")),
    Site("HAM-02", "Hamburg Waltershof", "Germany", ("Cold store", "Gatehouse", "Warehouse 7", "Empty depot")),
    Site("LEH-01", "Le Havre Océane", "France", ("Lock", "Berth 5", "Reefer stack", "Workshop")),
    Site("PIR-01", "Piraeus Pier II", "Greece", ("Pier head", "Crane row", "Customs", "Substation")),
    Site("RTM-01", "Rotterdam Maasvlakte", "Netherlands", ("Stack A", "Stack B", "Barge quay", "Control room")),
)

PRODUCTS = (
    Product("gateway", "gw", "Corvid GX-200", ("3.8.1", "3.9.0", "3.9.2"), 41.0, 18.0),
    Product("access point", "ap", "Lumen AP-6E", ("7.4.0", "7.4.3", "7.5.1"), 44.0, 9.0),
    Product("switch", "sw", "Halden S24-PoE", ("15.2.7", "15.3.0"), 38.0, 4.0),
    Product("camera", "cam", "Ostra Dome 4K", ("2.11.0", "2.12.4", "2.13.0"), 47.0, 26.0),
    Product("temperature sensor", "ts", "Fennel T1", ("1.0.9", "1.1.0"), 22.0, 64.0),
    Product("reefer monitor", "rm", "Fennel R3", ("1.4.2", "1.5.0"), 19.0, 71.0),
    Product("badge reader", "br", "Keld Door 2", ("5.0.1", "5.1.0"), 33.0, 14.0),
)

NOTES = (
    "Mounted behind the second cabinet; ask the shift lead for the key.",
    "Replaced the PoE injector after the March storm.",
    "Shares its uplink with the weighbridge. Do not reboot during a shift change.",
    "Antenna was moved two metres east to clear the new racking.",
    "On loan from the test pool until the replacement arrives.",
    "Housing shows salt corrosion; inspect at the next service.",
    "Reports a high temperature in direct sun, which is expected in summer.",
    "Vendor case open for intermittent packet loss.",
)

NETWORKS = ("192.0.2", "198.51.100", "203.0.113")
DEVICES_PER_SITE = (22, 19, 27, 21, 24, 33, 25, 23, 18, 36)


def fleet() -> list[Device]:
    """The 248 devices, ids ``dev-0001`` onward, in a fixed order."""
    random = Random(SEED)
    addresses = [f"{network}.{host}" for network in NETWORKS for host in range(10, 250)]
    random.shuffle(addresses)
    devices: list[Device] = []
    for site, count in zip(SITES, DEVICES_PER_SITE, strict=True):
        numbers: dict[tuple[str, str], int] = {}
        per_kind: dict[str, int] = {}
        for _ in range(count):
            product = random.choices(PRODUCTS, weights=(4, 7, 4, 5, 5, 4, 3))[0]
            area = random.choice(site.areas)
            number = numbers[area, product.kind] = numbers.get((area, product.kind), 0) + 1
            serial_in_kind = per_kind[product.prefix] = per_kind.get(product.prefix, 0) + 1
            status: Status = random.choices(STATUSES, weights=(74, 11, 9, 6))[0]
            devices.append(
                Device(
                    id=f"dev-{len(devices) + 1:04d}",
                    name=f"{area} {product.kind} {number}",
                    site=site.code,
                    status=status,
                    kind=product.kind,
                    model=product.model,
                    firmware=random.choice(product.firmware),
                    hostname=f"{product.prefix}{serial_in_kind:02d}.{site.code.lower()}.example.net",
                    ip=addresses[len(devices)],
                    serial=f"{product.prefix.upper()}{random.randrange(10**8):08d}",
                    note=random.choice(NOTES) if random.random() < 0.3 else None,
                    last_seen=_last_seen(random, status),
                )
            )
    return devices


def readings(device: Device) -> list[Reading]:
    """The last 24 hourly readings before the device was last seen, newest first."""
    random = Random(f"{SEED}/{device.id}/readings")
    product = next(product for product in PRODUCTS if product.kind == device.kind)
    strain = {"online": 1.0, "maintenance": 1.0, "degraded": 1.35, "offline": 1.15}[device.status]
    load = random.uniform(18, 46)
    rows = []
    for hour in range(READINGS_PER_DEVICE):
        load = min(97.0, max(4.0, load + random.uniform(-9, 9)))
        rows.append(
            Reading(
                device_id=device.id,
                ago=device.last_seen + hour * HOUR,
                temperature_c=round(
                    product.base_temperature * (0.9 + 0.1 * strain) + load / 12 + random.gauss(0, 0.8), 1
                ),
                load_percent=round(min(99.0, load * strain)),
                latency_ms=max(1, round(product.base_latency * strain**2 + random.expovariate(1 / 4))),
            )
        )
    return rows


def events(device: Device) -> list[Event]:
    """What happened to the device lately, newest first."""
    random = Random(f"{SEED}/{device.id}/events")
    rows: list[Event] = []
    if device.status == "offline":
        rows.append(Event(device.id, device.last_seen, "status", "Lost contact"))
    elif device.status == "degraded":
        since = device.last_seen + random.randrange(20 * MINUTE, 30 * HOUR)
        rows.append(Event(device.id, since, "status", "Answers slowly"))
    elif device.status == "maintenance":
        rows.append(Event(device.id, device.last_seen + 5 * MINUTE, "service", "Maintenance started"))
    ago = device.last_seen + random.randrange(2 * DAY, 12 * DAY)
    rows.append(Event(device.id, ago, "firmware", f"Firmware updated to {device.firmware}"))
    if random.random() < 0.6:
        ago += random.randrange(3 * HOUR, 20 * DAY)
        rows.append(Event(device.id, ago, "status", "Back online"))
        rows.append(Event(device.id, ago + random.randrange(5 * MINUTE, 9 * HOUR), "status", "Lost contact"))
    rows.append(Event(device.id, ago + random.randrange(40 * DAY, 400 * DAY), "service", "Installed"))
    return rows


def _last_seen(random: Random, status: Status) -> int:
    return {
        "online": random.randrange(5, 110),
        "degraded": random.randrange(40, 15 * MINUTE),
        "offline": random.randrange(2 * HOUR, 21 * DAY),
        "maintenance": random.randrange(10 * MINUTE, 3 * DAY),
    }[status]
