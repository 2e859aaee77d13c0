"""Makes reports, among them one with names that try to break it, and looks at each in a browser.

usage: report_pages.py REKEY VNU_JAR FOLDER
"""

import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

REKEY, CHECKER, PICTURES = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
WIDTHS = {"telephone": 360, "paper": 794, "screen": 1280}
BROWSER = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
           "--disable-background-networking", "--disable-component-update"]

# Says how wide the page is, and what stands beyond its edge.
PROBE = """<script>addEventListener("load", () => {
  const width = document.documentElement.clientWidth;
  const beyond = [...document.querySelectorAll("body *")].filter(it => {
    const box = it.getBoundingClientRect();
    return box.right > width + 1 || box.left < -1;
  });
  document.title = JSON.stringify({ width, scroll: document.documentElement.scrollWidth,
    beyond: beyond.slice(0, 5).map(it => it.tagName + " " + it.textContent.slice(0, 40)) });
});</script></body>"""


def rekey(folder, *arguments, code=0):
    run = subprocess.run([REKEY, *arguments, "--quiet"], cwd=folder, capture_output=True, text=True)
    assert run.returncode == code, (arguments, run.returncode, run.stderr)


def archive(folder):
    """Many tenants, keys of any length, and names that would be markup if they could."""
    dice = random.Random(7)
    lines, rows = [], ["key,tenant"]
    for number in range(40):
        tenant = f"tenant-{number}" + ("-" + "x" * 45 if number % 5 == 0 else "")
        tenant = "<b onclick=alert(1)>bold" if number == 3 else tenant
        for stream in range(dice.randint(1, 40)):
            tail = "y" * 700 if stream == 0 and number % 4 == 0 else '"quotes" & <i>'
            identity = f"{number}-{stream}-{tail}"
            quoted = f"Order:{identity}".replace('"', '""')
            rows.append(f'"{quoted}",{tenant}')
            for version in range(dice.randint(1, 6)):
                key = f"Order:{identity}"
                lines.append(json.dumps({
                    "id": f"{key}:{version}", "streamId": key, "eventId": f"{number}-{stream}-{version}",
                    "aggregateId": identity, "aggregateType": "Order", "eventType": "Changed", "version": version,
                    "timestamp": "2026-01-02T03:04:05+00:00", "eventData": "e30=", "metadata": None}))
    (folder / "seed.ndjson").write_text("\n".join(lines) + "\n")
    (folder / "map.csv").write_text("\n".join(rows) + "\n")
    return str(len(lines))


def reports(folder):
    """A match, a mismatch, and a run that came to nothing."""
    count, store = archive(folder), "embedded:store.db?as=cosmosdb"
    rekey(folder, "restore", "seed.ndjson", "--layout", "cosmosdb-events", "--expect-documents", count,
          "--to", store, "--collection", "old", "--create-target")
    rekey(folder, "export", "--from", store, "--collection", "old", "--layout", "events", "--out", "old.ndjson")
    rule = ["--tenant-map", "map.csv", "--escaping", "escaped", "--allow-prefix-tenants"]
    rekey(folder, "rekey", "old.ndjson", "--out", "new.ndjson", *rule)
    rekey(folder, "rekey", "old.ndjson", "--out", "part.ndjson", "--only-tenants", "tenant-1,tenant-2", *rule)
    for name, collection in [("new", "new"), ("part", "part")]:
        rekey(folder, "import", f"{name}.ndjson", "--to", store, "--collection", collection, "--create-target")
    verify = ["verify", "new.ndjson", "--legacy", "old.ndjson", "--collection"]
    rekey(folder, *verify, "new", "--against", store, "--show-content", "--report", "match.html")
    rekey(folder, *verify, "part", "--against", store, "--report", "mismatch.html", code=1)
    away = "embedded:away.db?as=cosmosdb"
    rekey(folder, *verify, "new", "--against", away, "--report", "nothing.html", code=2)
    return [folder / f"{name}.html" for name in ("match", "mismatch", "nothing")]


def browse(page, *flags):
    run = subprocess.run([*BROWSER, "--enable-logging=stderr", *flags, page.as_uri()], capture_output=True, text=True)
    messages = [line for line in run.stderr.splitlines() if "CONSOLE" in line]
    assert not messages, (page.name, messages)
    return run.stdout


def is_valid(pages):
    run = subprocess.run(["java", "-jar", CHECKER, "--format", "json", *map(str, pages)], capture_output=True, text=True)
    wrong = [it for it in json.loads(run.stderr)["messages"] if it["type"] == "error"]
    assert not wrong, wrong
    print(f"{len(pages)} pages: no error by the Nu Html Checker")


def asked_for(page, folder):
    log = folder / "net.json"
    browse(page, f"--log-net-log={log}", "--dump-dom")
    return set(re.findall(r'"url":"(https?://[^"?]*)', log.read_text()))


def asks_nobody(page, folder):
    # What the browser itself asks for, it asks for without a page, too.
    asked = asked_for(page, folder) - asked_for(folder / "blank.html", folder)
    assert not asked, (page.name, asked)


def fits(page, folder):
    # The page allows no script, so that a copy without that rule is measured, in frames of each width.
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page.read_text())
    (folder / "probe.html").write_text(text.replace("</body>", PROBE))
    for name, width in WIDTHS.items():
        frame = folder / "frame.html"
        frame.write_text(
            f'<iframe id="it" src="probe.html" style="width:{width}px;height:3000px;border:0"></iframe>'
            "<script>const it = document.getElementById('it');"
            "it.onload = () => setTimeout(() => { document.title = it.contentDocument.title; }, 300);</script>")
        shown = browse(frame, "--allow-file-access-from-files", "--virtual-time-budget=3000", "--dump-dom")
        seen = json.loads(re.search(r"<title>(.*?)</title>", shown).group(1).replace("&amp;", "&"))
        assert seen["scroll"] <= seen["width"] and not seen["beyond"], (page.name, name, seen)
        picture = PICTURES / f"{page.stem}-{width}.png"
        browse(page, f"--window-size={max(width, 360)},2600", f"--screenshot={picture}")
    browse(page, "--no-pdf-header-footer", f"--print-to-pdf={PICTURES / page.stem}.pdf")
    print(f"{page.name}: fits {', '.join(f'{width} px ({name})' for name, width in WIDTHS.items())}; no message, no request")


with tempfile.TemporaryDirectory() as temporary:
    place = pathlib.Path(temporary)
    (place / "blank.html").write_text("<!DOCTYPE html><title>blank</title>")
    made = reports(place)
    is_valid(made)
    for it in made:
        asks_nobody(it, place)
        fits(it, place)
