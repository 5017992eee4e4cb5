import assert from "node:assert/strict";
import { test } from "node:test";
import { LeaseTable } from "../dhcp/leases/table.ts";
import { DhcpServer } from "../dhcp/server.ts";
import { CONFIG, MemoryStore, readReply, SENDS, say, US } from "../dhcp/testing.ts";
import { parseIpv4 } from "../dhcp/wire/ipv4.ts";
import type { BootAction, Host } from "../hosts/host.ts";
import { DiskBoots } from "./disk-boots.ts";

const BASE = "http://10.0.0.2";
const MAC = "52:54:00:00:00:01";

/** A machine that is only seen, or one that has reported its hardware. */
function world(action: BootAction, reported: boolean) {
  const state = { action };
  const host = reported ? ({ inventoryAt: 1 } as Host) : undefined;
  const disks = new DiskBoots({ bootOf: () => state.action, get: () => host });
  const server = new DhcpServer({
    config: CONFIG,
    leases: new LeaseTable(new MemoryStore()),
    clock: { now: () => 1_800_000_000_000 },
    ownBoot: (client) => disks.ownBoot(client, BASE),
  });
  const fileFor = async (sends: keyof typeof SENDS): Promise<string | undefined> => {
    const message = say("discover", { sends: SENDS[sends], mac: MAC });
    const answer = await server.answer({ message, from: { address: 0, port: 68 }, local: parseIpv4(US), port: 67 });
    return answer && readReply(answer).text(67);
  };
  return { state, disks, fileFor };
}

test("firmware that is to boot from disk is sent for a file that there is not; an iPXE still reads its script", async () => {
  const { fileFor } = world("disk", false);

  assert.equal(await fileFor("ovmfPxe"), "boot-from-disk");
  assert.equal(await fileFor("ovmfHttp"), `${BASE}/boot-from-disk`);
  assert.equal(await fileFor("ipxeRom"), `${BASE}/boot.ipxe`);
});

test("a machine whose disks Slipway knows gets GRUB, until that has found nothing; a later boot begins anew", async () => {
  const { state, disks, fileFor } = world("disk", true);

  assert.equal(await fileFor("ovmfPxe"), "shimx64.efi");
  assert.equal(disks.nothingFound(MAC), true);
  assert.equal(await fileFor("ovmfPxe"), "boot-from-disk");
  assert.equal(
    disks.nothingFound(MAC),
    false,
    "a machine that comes back to GRUB all the same is not sent round for ever",
  );
  state.action = "agent";
  assert.equal(await fileFor("ovmfPxe"), "shimx64.efi");
  state.action = "disk";
  assert.equal(await fileFor("ovmfPxe"), "shimx64.efi");
});

test("for every other action firmware gets the usual", async () => {
  for (const action of ["agent", "wait", { chain: `${BASE}/mine` }] as const) {
    const { fileFor } = world(action, false);
    assert.equal(await fileFor("ovmfPxe"), "shimx64.efi");
    assert.equal(await fileFor("ovmfHttp"), `${BASE}/shimx64.efi`);
  }
});
