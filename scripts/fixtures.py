#!/usr/bin/env python3
"""Writes fixtures/: legacy documents of all eight kinds, each kind with its tenant map.

    python3 scripts/fixtures.py [FOLDER]

The output is the same on every machine; it is committed, and a test compares it.
"""

import csv
import pathlib
import sys
from collections import Counter, defaultdict

from fixture.hostile import hostile_files
from fixture.shop import ACME, DEFAULT, GLOBEX, SAME_ID_AS_THE_ONE_BEFORE, all_events, all_sagas
from fixture.stores import STORES
from fixture.values import compact

README = """\
# Fixtures

Legacy documents of an imagined shop, as the four stores hold them: `LAYOUT.ndjson` in archive order, with the
tenant map `LAYOUT.tenants.csv` over the three tenants `acme`, `globex` and `__default__`. `scripts/fixtures.py`
writes this folder; change it there. `rekey demo` starts from these files.

| layout | documents | streams | acme | globex | \\_\\_default\\_\\_ |
|---|---:|---:|---:|---:|---:|
{rows}

Other tools' archives have no manifest, so the number of documents is stated:

```
rekey rekey fixtures/mongodb-events.ndjson --layout mongodb-events --expect-documents {count} --tenant-map fixtures/mongodb-events.tenants.csv --escaping escaped --out rekeyed.ndjson
```

What they hold, besides ordinary documents:

- streams longer than ten versions, so that version 10 sorts after 9 (`Order` `A-1001`, both `Shipment`s);
- on MongoDB `occurredAt` in its three forms (array, document, date), erased events (`Customer` `Zoë Müller`),
  payloads that are no JSON (`Shipment`), two aggregate types under one `streamId` (`A-1001`; `A-1002` is even of
  two tenants, told apart by the map's `type` column);
- ids with `:` `/` `#` `%` `,` `"`, spaces, letters beyond ASCII, an emoji, and two ids that look alike (`café`,
  composed and decomposed) where the store allows the characters: Cosmos DB forbids `/ \\ ? #`, Firestore `/`.
  Because of `:` and `%` the escaping has to be stated;
- fields of old releases (`isDispatched`, `dispatchedAt`), system fields that the rewrite drops;
- event metadata that carries the tenant, so that `--tenant-field metadata#/tenantId` gives the same result as the
  map; some events have none and inherit it;
- running and completed sagas; old ones without `version`; owners absent, null, `__default__` and real, as a field
  and inside `stateJson`; one saga id under two types where the key allows it.

## Hostile files

In `hostile` every line must be refused, each for another reason (a line that is refused only because of its
neighbour says `stream-refused`). `expected.csv` says which line for which reason; the
ids in the lines say it too.

| file | documents | flags |
|---|---:|---|
{hostile}
"""


def main(folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    rows, counts = [], {}
    for store in STORES:
        for kind, (documents, tenants, streams), tenant_map in (
            ("events", events_of(store), event_map(store)),
            ("sagas", sagas_of(store), saga_map(store)),
        ):
            layout = f"{store.name}-{kind}"
            counts[layout] = len(documents)
            write_lines(folder / f"{layout}.ndjson", documents)
            write_map(folder / f"{layout}.tenants.csv", tenant_map)
            per_tenant = " | ".join(str(tenants[tenant]) for tenant in (ACME, GLOBEX, DEFAULT))
            rows.append(f"| `{layout}` | {len(documents)} | {streams} | {per_tenant} |")
    hostile = write_hostile(folder / "hostile")
    text = README.format(rows="\n".join(rows), count=counts["mongodb-events"], hostile="\n".join(hostile))
    (folder / "README.md").write_text(text, encoding="utf-8")


def write_hostile(folder: pathlib.Path) -> list[str]:
    """Writes the files whose every line is refused; gives their rows for the README."""
    folder.mkdir(exist_ok=True)
    expected, rows = [("layout", "line", "reason")], []
    for file in hostile_files():
        path = folder / f"{file.layout}.ndjson"
        path.write_bytes(b"".join(line + b"\n" for line in file.lines))
        expected += [(file.layout, number, reason) for number, reason in enumerate(file.reasons, 1)]
        flags = file.flags
        if file.known:
            name = f"{file.layout}.known.txt"
            (folder / name).write_text("".join(f"{tenant}\n" for tenant in file.known), encoding="utf-8", newline="\n")
            flags = f"{flags} {name}"
        else:
            write_map(folder / f"{file.layout}.tenants.csv", [("key", "tenant", "match"), *file.rows])
            flags = f"{flags} {file.layout}.tenants.csv"
        rows.append(f"| `{path.name}` | {len(file.lines)} | `{flags}` |")
    write_map(folder / "expected.csv", expected)
    return rows


def events_of(store):
    """Documents in archive order, how many each tenant has, and how many streams there are."""
    events = [event for event in all_events() if is_allowed(store, event.stream)]
    documents = sorted(map(store.event, events), key=store.event_order)
    tenants = Counter(event.stream.tenant for event in events)
    return documents, tenants, len({(event.stream.type, event.stream.id) for event in events})


def sagas_of(store):
    """Documents in archive order, how many each tenant has, and how many sagas there are."""
    sagas = [saga for saga in all_sagas() if store.key_has_type or saga.number not in SAME_ID_AS_THE_ONE_BEFORE]
    documents = sorted(map(store.saga, sagas), key=store.saga_order)
    return documents, Counter(saga.tenant for saga in sagas), len(sagas)


def event_map(store):
    """Exact rows, but a prefix for payments and an expression for shipments; a type only where the key needs it."""
    streams = {event.stream for event in all_events() if is_allowed(store, event.stream)}
    tenants = defaultdict(set)
    for stream in streams:
        tenants[store.map_key(stream)].add(stream.tenant)
    rows = set()
    for stream in streams:
        key, match, is_typed = store.map_key(stream), "", len(tenants[store.map_key(stream)]) > 1
        if stream.type == "Payment":
            key, match, is_typed = key[: key.index("P-") + 3], "prefix", True
        if stream.type == "Shipment":
            key, match, is_typed = key.replace(stream.id, "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "regex", True
        type_column = () if store.key_has_type else (stream.type if is_typed else "",)
        rows.add((key, stream.tenant, *type_column, match))
    return [("key", "tenant", *(() if store.key_has_type else ("type",)), "match"), *sorted(rows)]


def saga_map(store):
    return [("key", "tenant"), *sorted({(saga.id, saga.tenant) for saga in all_sagas()})]


def is_allowed(store, stream) -> bool:
    return not any(character in store.map_key(stream) for character in store.forbidden)


def write_lines(path: pathlib.Path, documents: list[dict]) -> None:
    path.write_text("".join(compact(document) + "\n" for document in documents), encoding="utf-8", newline="\n")


def write_map(path: pathlib.Path, rows: list[tuple]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    default = pathlib.Path(__file__).parent.parent / "fixtures"
    main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default)
