import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { askedFiles, askedUrl } from "../boot/asked-files.ts";
import { fileOf } from "../files/memory.ts";
import { keptLine } from "../logs/line.ts";
import { ASKED_MS, AskedBoots } from "./asked-boots.ts";

const CARD = "52:54:00:00:00:0a";
const OTHER = "52:54:00:00:00:0b";
const HERE = "10.0.0.5";

function asked() {
  const clock = new VirtualClock();
  return { clock, boots: new AskedBoots(clock, seededRandom(1)) };
}

test("what is granted where the value was shown is of the boot that was asked for, and nothing else is", () => {
  const { boots } = asked();
  const value = boots.ask(CARD);
  boots.granted(CARD, HERE, "before");
  assert.equal(boots.shown(OTHER, value, HERE), false);
  assert.equal(boots.shown(CARD, `${value.slice(0, -1)}${value.endsWith("A") ? "B" : "A"}`, HERE), false);
  assert.equal(boots.shown(CARD, value, HERE), true);
  boots.granted(CARD, "10.0.0.66", "elsewhere");
  boots.granted(OTHER, HERE, "another card");
  for (const capability of ["first", "again"]) boots.granted(CARD, HERE, capability);
  const are = ["before", "elsewhere", "another card", "first", "again"].map((each) => boots.isOf(CARD, each));
  assert.deepEqual(are, [false, false, false, true, true]);
  assert.equal(boots.isOf(OTHER, "first"), false);
  boots.end(CARD);
  assert.deepEqual([boots.isOf(CARD, "again"), boots.shown(CARD, value, HERE)], [false, false]);
});

test("a value names the card of its machine while it is good", async () => {
  const { clock, boots } = asked();
  const [mine, other] = [boots.ask(CARD), boots.ask(OTHER)];
  assert.deepEqual(
    [mine, other, "slo_none"].map((each) => boots.cardOf(each)),
    [CARD, OTHER, undefined],
  );
  boots.end(OTHER);
  assert.equal(boots.cardOf(other), undefined);
  await clock.run(ASKED_MS);
  assert.equal(boots.cardOf(mine), undefined);
});

test("a value ends after twenty minutes, and with the next boot that is asked for", async () => {
  const { clock, boots } = asked();
  const first = boots.ask(CARD);
  boots.shown(CARD, first, HERE);
  boots.granted(CARD, HERE, "first");
  const second = boots.ask(CARD);
  assert.notEqual(second, first);
  assert.deepEqual([boots.isOf(CARD, "first"), boots.shown(CARD, first, HERE)], [false, false]);
  boots.shown(CARD, second, HERE);
  boots.granted(CARD, HERE, "second");
  await clock.run(ASKED_MS - 1);
  assert.equal(boots.isOf(CARD, "second"), true);
  await clock.run(1);
  assert.deepEqual([boots.isOf(CARD, "second"), boots.shown(CARD, second, HERE)], [false, false]);
});

test("of very many boots that are asked for at one time the oldest end", () => {
  const { boots } = asked();
  const value = boots.ask(CARD);
  for (let at = 0; at < 1_000; at++) boots.ask(`52:54:01:00:${hex(at >> 8)}:${hex(at & 255)}`);
  assert.equal(boots.shown(CARD, value, HERE), false);
});

test("loaders below a value are everybody's loaders; that it was shown is reported, and no log repeats it", async () => {
  const { boots } = asked();
  const value = boots.ask(CARD);
  const url = askedUrl("http://10.0.0.1:8080/shimx64.efi", value);
  assert.equal(url, `http://10.0.0.1:8080/once/${value}/shimx64.efi`);
  const said: string[] = [];
  const inner = {
    open: async (name: string) =>
      name.endsWith(".efi") && !name.includes("/") ? fileOf(Buffer.from(name)) : undefined,
  };
  const files = askedFiles(inner, (address, shown) => said.push(`${address} ${shown === value}`));
  const read = async (name: string): Promise<string | undefined> => {
    const file = await files.open(name, { address: HERE });
    return file && Buffer.from(await file.read(0, file.size)).toString();
  };
  assert.equal(await read(`once/${value}/shimx64.efi`), "shimx64.efi");
  // As shim asks.
  assert.equal(await read(`once/${value}//grubx64.efi`), "grubx64.efi");
  for (const name of ["shimx64.efi", `once/${value}`, "once/short/shimx64.efi"])
    assert.equal(await read(name), undefined);
  assert.deepEqual(said, [`${HERE} true`, `${HERE} true`]);
  assert.equal(keptLine(`GET ${new URL(url).pathname}: 200`), "GET /once/[redacted]/shimx64.efi: 200");
});

function hex(byte: number): string {
  return byte.toString(16).padStart(2, "0");
}
