import assert from "node:assert/strict";
import { createHash, X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { createAuthority, issueClient } from "../../pki/authority.ts";
import { Clients } from "./clients.ts";

async function opened(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "slipway-clients-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "clients.json");
  const clock = new VirtualClock();
  const authority = await createAuthority({ commonName: "a", clock });
  const made: string[] = [];
  const issue = async (commonName: string) => {
    made.push(commonName);
    return await issueClient(authority, { commonName, organizations: [], clock });
  };
  const open = () => Clients.open(file, issue, clock);
  return { file, open, made, clients: await open() };
}
const fingerprintOf = (pem: string): string => createHash("sha256").update(new X509Certificate(pem).raw).digest("hex");

test("N1 a certificate is known by its name until it is revoked, also after a restart", async (t) => {
  const { clients, open } = await opened(t);
  const { certificatePem, keyPem, name } = await clients.issue("ci@dock.1");
  assert.deepEqual([name, keyPem.includes("PRIVATE KEY")], ["ci@dock.1", true]);
  const shown = fingerprintOf(certificatePem);
  for (const one of [clients, await open()]) assert.equal(one.nameOf(shown, "whatever it calls itself"), name);
  await clients.revoke(name);
  for (const one of [clients, await open()]) {
    assert.equal(one.nameOf(shown, name), undefined);
    assert.deepEqual(
      one.list().map((each) => [each.name, each.revokedAt !== undefined]),
      [[name, true]],
    );
  }
  const again = await clients.issue(name);
  assert.equal(clients.nameOf(fingerprintOf(again.certificatePem), name), name);
  assert.equal(clients.nameOf(shown, name), undefined, "the one that was revoked stays so");
});

test("N1 the folder's own client is known by its name alone; nobody else is without being issued", async (t) => {
  const { clients } = await opened(t);
  assert.equal(clients.nameOf("00", "slipway-netboot-client"), "slipway-netboot-client");
  assert.equal(clients.nameOf("00", "ci"), undefined);
});

test("N1 a name that is in use, that none may have, or that is unknown is refused, and nothing is issued", async (t) => {
  const { clients, made } = await opened(t);
  await clients.issue("a".repeat(63));
  await assert.rejects(clients.issue("a".repeat(63)), { code: "AlreadyExists" });
  for (const name of ["", "-a", "a b", "a/b", "a".repeat(64), "slipway-netboot-client"])
    await assert.rejects(clients.issue(name), { code: "Invalid" });
  await assert.rejects(clients.revoke("nobody"), { code: "NotFound", on: "nobody" });
  await clients.revoke("a".repeat(63));
  await assert.rejects(clients.revoke("a".repeat(63)), { code: "NotFound" });
  assert.equal(made.length, 1);
});

test("N1 there are a thousand clients at most, the revoked ones with them", async (t) => {
  const { file, open, made } = await opened(t);
  const all = Array.from({ length: 999 }, (_, n) => ({
    name: `c-${n}`,
    fingerprint: String(n),
    issuedAt: 0,
    revokedAt: 1,
  }));
  writeFileSync(file, JSON.stringify(all));
  const clients = await open();
  await clients.issue("last");
  await assert.rejects(clients.issue("more"), { code: "NoCapacity" });
  assert.deepEqual(made, ["last"]);
});

test("N1 a file that is no list of clients serves nobody", async (t) => {
  const { file, open } = await opened(t);
  for (const text of ["{", "{}", '[{"name":"a"}]']) {
    writeFileSync(file, text);
    await assert.rejects(open(), { code: "Invalid", on: file });
  }
});
