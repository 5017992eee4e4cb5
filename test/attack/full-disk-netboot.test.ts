/** The disk under `slipway netboot` fills up while it serves: machines with an address boot, nobody gets what is not recorded, and it goes on by itself. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { lacking } from "../netboot/namespace.ts";
import { MACS, Networks, SUBNETS } from "./networks.ts";

interface Refusal {
  code?: string;
  message?: string;
}

/** So much more room than a file's last block has. */
const MOST_WRITES = 200;

test("with a full disk machines boot, no lease is acknowledged, orders are refused with the reason, and all goes on when there is room", {
  skip: await lacking("curl", "udhcpc", "perl"),
}, async (t) => {
  const networks = await Networks.open(t, { dhcp: { subnets: SUBNETS } }, { disk: "16m" });
  const state = `${networks.dir}/state`;
  const fill = `cd ${state}; dd if=/dev/zero of=filler bs=64k 2>/dev/null || true; dd if=/dev/zero bs=1 count=65536 >> filler 2>/dev/null || true`;
  const { host } = await networks.honest("victim");

  // Its last block has room for some leases.
  await networks.shell(
    "server",
    `room=$((4096 - $(stat -c %s ${state}/leases) % 4096)); { head -c $((room - 1)) /dev/zero | tr "\\0" "?"; echo; } >> ${state}/leases`,
  );
  await networks.shell("server", fill);
  await assert.rejects(networks.lease("thief"), "who has no lease on the disk has no address");
  assert.match(await networks.boot("victim"), /^slc_/);

  const orders = `/hosts/${host}/orders`;
  const boot = (): Promise<Refusal> => networks.admin("PUT", `/hosts/${MACS.victim}/boot`, "agent");
  let writes = 0;
  while ((await boot()).code === undefined) assert.ok(++writes < MOST_WRITES, "the disk is not full");
  const refused = await networks.admin<Refusal>("POST", orders, { order: "reboot" });
  assert.equal(refused.code, "Unavailable");
  assert.match(refused.message ?? "", /the disk of \/.*\/state is full \(.* of 16 MiB free\)/);
  assert.equal((await networks.host("victim")).order, undefined);
  assert.match(await networks.boot("victim"), /^slc_/, "it boots all the same");

  await networks.shell("server", `rm ${state}/filler`);
  assert.match(await networks.lease("thief"), /^10\.9\.0\.1/);
  assert.equal((await networks.admin<Refusal>("POST", orders, { order: "reboot" })).code, undefined);
  const count = (words: string): number => networks.log().split(words).length - 1;
  for (const words of [
    "leases can't be written",
    "hosts can't be written",
    "leases are written again",
    "hosts are written again",
  ])
    assert.equal(count(words), 1, `${words}\n${networks.log()}`);
  assert.match(networks.log(), /is full .*free some space there; it goes on by itself/);

  await networks.shell("server", fill);
  await networks.interrupt();
});
