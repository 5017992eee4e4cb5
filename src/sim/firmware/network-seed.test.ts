import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, type Http, plain } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { seedFrom, seedUrlIn } from "./network-seed.ts";

const URL_ = "http://boot.test/boot/uid/capability/";
const META = "instance-id: uid-1\nlocal-hostname: worker-1\n";

function machine(http: Http) {
  const clock = new VirtualClock();
  const power = new AbortController();
  return { clock, power, seeded: seedFrom(URL_, { http, clock, signal: power.signal }) };
}

test("the seed's address is read from the kernel's command line as cloud-init writes it", () => {
  assert.equal(seedUrlIn(`quiet ds=nocloud;s=${URL_} console=ttyS0`), URL_);
  assert.equal(seedUrlIn(`ds=nocloud-net;s=${URL_}`), URL_);
  for (const other of ["quiet", "ds=nocloud", "ds=ec2;s=http://x/", `xds=nocloud;s=${URL_}`])
    assert.equal(seedUrlIn(other), undefined, other);
});

test("the machine's names and its user data are fetched below the address, from a server that comes late, too", async () => {
  let away = 3;
  const { clock, seeded } = machine(async ({ url }) => {
    if (away-- > 1) throw new Fault("Unavailable", "boot", "nobody answers");
    if (away === 0) return plain(503, "try again");
    return plain(200, url === `${URL_}meta-data` ? META : `#cloud-config of ${url}`);
  });
  await clock.run(60_000);
  assert.deepEqual(await seeded, {
    is: "found",
    instance: { id: "uid-1", hostname: "worker-1" },
    userData: `#cloud-config of ${URL_}user-data`,
  });
});

test("what is gone or never comes is said", async () => {
  const gone = machine(async ({ url }) => (url.endsWith("meta-data") ? plain(200, META) : plain(410, "gone")));
  assert.deepEqual(await gone.seeded, { is: "failed", message: "cloud-init: user-data: status 410" });
  const away = machine(async () => plain(500, "no"));
  await away.clock.run(10 * 60_000);
  assert.deepEqual(await away.seeded, { is: "failed", message: "cloud-init: meta-data: status 500" });
});

test("a machine whose power goes meanwhile asks no more", async () => {
  const { clock, power, seeded } = machine(async () => plain(503, "no"));
  seeded.catch(() => {});
  await clock.run(6_000);
  power.abort(new Error("power off"));
  await assert.rejects(seeded, /power off/);
  assert.equal(clock.pending, 0);
});
