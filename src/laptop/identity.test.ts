import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { cryptoRandom, quietLog, systemClock } from "@slipway/base";
import { laptopIdentity } from "./identity.ts";

const NOW = Date.UTC(2026, 0, 1);
const YEAR_MS = 365 * 86_400_000;
const at = (now: number): { now: () => number } => ({ now: () => now });

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), "identity-"));
  t.after(() => rmSync(dir, { recursive: true }));
  return dir;
}

test("an identity is found again, and only its owner can read it", async (t) => {
  const dir = folder(t);
  const made = await laptopIdentity(dir, "127.0.0.1", at(NOW));
  const found = await laptopIdentity(dir, "127.0.0.1", at(NOW + YEAR_MS / 2));
  assert.deepEqual(found.serving, made.serving);
  assert.equal(found.kubeconfig("https://a.example"), made.kubeconfig("https://a.example"));
  const files = ["admin-key.pem", "admin.pem", "ca-key.pem", "ca.pem", "server-key.pem", "server.pem"];
  assert.deepEqual(readdirSync(join(dir, "pki")).sort(), files);
  for (const file of files) assert.equal(statSync(join(dir, "pki", file)).mode & 0o777, 0o600);
});

test("the server's certificate holds its host and every loopback name", async () => {
  const { serving } = await laptopIdentity(undefined, "laptop.example", at(NOW));
  const certificate = new X509Certificate(serving.cert);
  for (const name of ["laptop.example", "localhost"]) assert.equal(certificate.checkHost(name), name);
  for (const address of ["127.0.0.1", "::1"]) assert.equal(certificate.checkIP(address), address);
});

test("the administrator of the kubeconfig is of the group that may do everything, and signed by the authority", async () => {
  const { serving, kubeconfig } = await laptopIdentity(undefined, "127.0.0.1", at(NOW));
  const text = kubeconfig("https://127.0.0.1:6443");
  const field = (name: string): string =>
    Buffer.from(new RegExp(`${name}: (\\S+)`).exec(text)![1]!, "base64").toString("utf8");
  const admin = new X509Certificate(field("client-certificate-data"));
  assert.match(admin.subject, /O=system:masters/);
  assert.match(admin.subject, /CN=slipway-admin/);
  assert.equal(field("certificate-authority-data"), serving.clientCa);
  assert.ok(admin.verify(new X509Certificate(serving.clientCa!).publicKey));
});

test("another host makes a new server certificate, of the same authority and administrator", async (t) => {
  const dir = folder(t);
  const before = await laptopIdentity(dir, "127.0.0.1", at(NOW));
  const after = await laptopIdentity(dir, "192.168.1.5", at(NOW));
  assert.equal(new X509Certificate(after.serving.cert).checkIP("192.168.1.5"), "192.168.1.5");
  assert.equal(after.serving.clientCa, before.serving.clientCa);
  assert.equal(after.kubeconfig("https://a.example"), before.kubeconfig("https://a.example"));
});

test("certificates are renewed before they expire; the authority stays until it can't cover them", async (t) => {
  const dir = folder(t);
  const before = await laptopIdentity(dir, "127.0.0.1", at(NOW));
  const after = await laptopIdentity(dir, "127.0.0.1", at(NOW + YEAR_MS));
  assert.notEqual(after.serving.cert, before.serving.cert);
  assert.notEqual(after.kubeconfig("https://a.example"), before.kubeconfig("https://a.example"));
  assert.equal(after.serving.clientCa, before.serving.clientCa);
  const late = await laptopIdentity(dir, "127.0.0.1", at(NOW + 9.5 * YEAR_MS));
  assert.notEqual(late.serving.clientCa, before.serving.clientCa);
});

test("an authority is kept as long as it covers a year and a day", async (t) => {
  const [DAY_MS, HOUR_MS] = [86_400_000, 3_600_000];
  const dir = folder(t);
  const before = await laptopIdentity(dir, "127.0.0.1", at(NOW));
  const end = Date.parse(new X509Certificate(before.serving.clientCa!).validTo);
  for (const [when, isKept] of [
    [end - 366 * DAY_MS - HOUR_MS, true],
    [end - 366 * DAY_MS + HOUR_MS, false],
  ] as const) {
    const after = await laptopIdentity(dir, "127.0.0.1", at(when));
    assert.equal(after.serving.clientCa === before.serving.clientCa, isKept);
  }
});

test("a server's certificate is made anew when less than 30 days of it are left", async (t) => {
  const [DAY_MS, HOUR_MS] = [86_400_000, 3_600_000];
  const dir = folder(t);
  const before = await laptopIdentity(dir, "127.0.0.1", at(NOW));
  const end = Date.parse(new X509Certificate(before.serving.cert).validTo);
  for (const [when, isKept] of [
    [end - 30 * DAY_MS - HOUR_MS, true],
    [end - 30 * DAY_MS + HOUR_MS, false],
  ] as const) {
    const after = await laptopIdentity(dir, "127.0.0.1", at(when));
    assert.equal(after.serving.cert === before.serving.cert, isKept);
  }
});

test("a damaged file is made anew, and all that depends on it", async (t) => {
  const dir = folder(t);
  const before = await laptopIdentity(dir, "127.0.0.1", at(NOW));
  const whole = readFileSync(join(dir, "pki", "server-key.pem"), "utf8");
  writeFileSync(join(dir, "pki", "server-key.pem"), whole.slice(0, 40));
  const mended = await laptopIdentity(dir, "127.0.0.1", at(NOW));
  assert.notEqual(mended.serving.key, before.serving.key);
  assert.equal(mended.serving.clientCa, before.serving.clientCa);

  writeFileSync(join(dir, "pki", "ca.pem"), "");
  const renewed = await laptopIdentity(dir, "127.0.0.1", at(NOW));
  const authority = new X509Certificate(renewed.serving.clientCa!);
  assert.equal(new X509Certificate(renewed.serving.cert).checkIssued(authority), true);
  assert.notEqual(renewed.serving.cert, mended.serving.cert);
});

test("kubectl with the administrator's kubeconfig is admitted; a stranger's certificate is not", async (t) => {
  if (spawnSync("kubectl", ["version", "--client"]).status !== 0) return t.skip("kubectl is not here");
  const dir = folder(t);
  const identity = await laptopIdentity(dir, "127.0.0.1", systemClock);
  const api = await createApiServer({ clock: systemClock, random: cryptoRandom, log: quietLog });
  t.after(() => api.close());
  const { url } = await api.listen({ tls: identity.serving });
  const file = join(dir, "kubeconfig");
  writeFileSync(file, identity.kubeconfig(url), { mode: 0o600 });
  assert.match(await kubectl(file, "auth", "whoami", "-o", "yaml"), /- system:masters[\s\S]*username: slipway-admin/);

  const stranger = await laptopIdentity(undefined, "127.0.0.1", systemClock);
  const authority = /certificate-authority-data: .*/;
  const trusted = authority.exec(identity.kubeconfig(url))![0];
  writeFileSync(file, stranger.kubeconfig(url).replace(authority, trusted));
  assert.match(await kubectl(file, "get", "namespaces"), /must be logged in|Unauthorized|provide credentials/);
});

/** What kubectl prints, on either stream. The server is in this process, so it must not be waited for synchronously. */
function kubectl(file: string, ...words: string[]): Promise<string> {
  return new Promise((done) => {
    const child = execFile("kubectl", ["--kubeconfig", file, ...words], { timeout: 120_000 }, (_error, out, err) =>
      done(`${out}${err}`),
    );
    child.stdin?.end();
  });
}
