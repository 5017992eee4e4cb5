import assert from "node:assert/strict";
import { test } from "node:test";
import { LeaseTable } from "../dhcp/leases/table.ts";
import { DhcpServer } from "../dhcp/server.ts";
import { CONFIG, heard, MemoryStore, SENDS, say, US } from "../dhcp/testing.ts";
import { parseIpv4 } from "../dhcp/wire/ipv4.ts";
import type { BootAction } from "../hosts/host.ts";
import { ownBootOf } from "./own-boot.ts";

const BASE = "http://10.0.0.2";

async function fileFor(action: BootAction, sends: keyof typeof SENDS): Promise<string | undefined> {
  const server = new DhcpServer({
    config: CONFIG,
    leases: new LeaseTable(new MemoryStore()),
    clock: { now: () => 1_800_000_000_000 },
    ownBoot: (client) => ownBootOf(action, BASE, client),
  });
  const message = say("discover", { sends: SENDS[sends] });
  const answer = await server.answer({ message, from: { address: 0, port: 68 }, local: parseIpv4(US), port: 67 });
  return answer && heard(answer).text(67);
}

test("firmware that is to boot from disk is sent for a file that there is not; an iPXE still reads its script", async () => {
  assert.equal(await fileFor("disk", "ovmfPxe"), "boot-from-disk");
  assert.equal(await fileFor("disk", "ovmfHttp"), `${BASE}/boot-from-disk`);
  assert.equal(await fileFor("disk", "ipxeRom"), `${BASE}/boot.ipxe`);
});

test("for every other action firmware gets the usual", async () => {
  for (const action of ["agent", "wait", { chain: `${BASE}/mine` }] as const) {
    assert.equal(await fileFor(action, "ovmfPxe"), "shimx64.efi");
    assert.equal(await fileFor(action, "ovmfHttp"), `${BASE}/shimx64.efi`);
  }
});
