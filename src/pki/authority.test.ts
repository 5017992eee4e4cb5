import "reflect-metadata";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import * as x509 from "@peculiar/x509";
import { isFault } from "@slipway/base";
import { createAuthority, issueClient, issueServer } from "./authority.ts";
import { isGood } from "./renewal.ts";

const NOW = Date.UTC(2026, 0, 1);
const DAY_MS = 86_400_000;
const clock = { now: () => NOW };
const HOSTS = ["slipway.example", "*.boot.example", "127.0.0.1", "::1", "fd00::10:1"];
const authority = await createAuthority({ commonName: "slipway-ca", clock });

test("an authority signs itself and its key is its own", () => {
  const certificate = new X509Certificate(authority.certificatePem);
  assert.equal(certificate.ca, true);
  assert.equal(certificate.subject, "CN=slipway-ca");
  assert.equal(certificate.issuer, "CN=slipway-ca");
  assert.equal(certificate.verify(certificate.publicKey), true);
  assert.equal(certificate.checkPrivateKey(createPrivateKey(authority.keyPem)), true);
  assert.equal(certificate.publicKey.asymmetricKeyDetails?.namedCurve, "prime256v1");
  assert.equal(certificate.validToDate.getTime(), NOW + 3650 * DAY_MS);
});

test("a server certificate holds its hosts and no others", async () => {
  const issued = await issueServer(authority, { commonName: "api", hosts: HOSTS, clock });
  const certificate = new X509Certificate(issued.certificatePem);
  assert.equal(certificate.verify(new X509Certificate(authority.certificatePem).publicKey), true);
  assert.equal(certificate.checkHost("slipway.example"), "slipway.example");
  assert.equal(certificate.checkHost("a.boot.example"), "*.boot.example");
  assert.equal(certificate.checkHost("other.example"), undefined);
  for (const address of ["127.0.0.1", "::1", "fd00::10:1"]) assert.equal(certificate.checkIP(address), address);
  assert.equal(certificate.checkIP("127.0.0.2"), undefined);
  assert.deepEqual(certificate.keyUsage, ["1.3.6.1.5.5.7.3.1"]);
});

test("a client certificate says its name and each of its groups, whatever characters are in them", async () => {
  const organizations = ["system:masters", "a,O=b+CN=c", "Zürich"];
  const issued = await issueClient(authority, { commonName: "admin, O=x", organizations, clock });
  const subject = new X509Certificate(issued.certificatePem).toLegacyObject().subject as unknown;
  assert.deepEqual({ ...(subject as object) }, { O: organizations, CN: "admin, O=x" });
  assert.deepEqual(new X509Certificate(issued.certificatePem).keyUsage, ["1.3.6.1.5.5.7.3.2"]);
});

test("openssl finds server and client certificates without fault, for their own purpose only", async (t) => {
  if (spawnSync("openssl", ["version"]).status !== 0) return t.skip("openssl is not here");
  const dir = mkdtempSync(join(tmpdir(), "pki-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const file = (name: string, text: string): string => {
    writeFileSync(join(dir, name), text);
    return join(dir, name);
  };
  const ca = file("ca.pem", authority.certificatePem);
  const server = await issueServer(authority, { commonName: "api", hosts: HOSTS, clock });
  const client = await issueClient(authority, { commonName: "admin", organizations: ["system:masters"], clock });
  const verify = (name: string, text: string, purpose: string): string => {
    const at = ["-attime", String(NOW / 1000), "-x509_strict", "-check_ss_sig", "-purpose", purpose];
    const done = spawnSync("openssl", ["verify", ...at, "-CAfile", ca, file(name, text)]);
    return done.status === 0 ? "good" : done.stderr.toString();
  };
  assert.equal(verify("server.pem", server.certificatePem, "sslserver"), "good");
  assert.equal(verify("client.pem", client.certificatePem, "sslclient"), "good");
  assert.match(verify("server.pem", server.certificatePem, "sslclient"), /unsuitable certificate purpose/);
  assert.match(verify("client.pem", client.certificatePem, "sslserver"), /unsuitable certificate purpose/);
});

test("what an authority of others issues is known as its own, however that computed the identifier of its key", async () => {
  const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    ...{ name: "CN=kubernetes", keys, signingAlgorithm: algorithm },
    extensions: [
      new x509.BasicConstraintsExtension(true),
      new x509.SubjectKeyIdentifierExtension("00112233445566778899"),
    ],
  });
  const pkcs8 = Buffer.from(await crypto.subtle.exportKey("pkcs8", keys.privateKey));
  const keyPem = createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" }).export({
    format: "pem",
    type: "pkcs8",
  });
  const foreign = { certificatePem: certificate.toString("pem"), keyPem: String(keyPem) };
  const { certificatePem } = await issueServer(foreign, { commonName: "s", hosts: ["10.0.0.1"], clock });
  const issued = new X509Certificate(certificatePem);
  assert.equal(issued.checkIssued(new X509Certificate(foreign.certificatePem)), true);
});

test("serial numbers are positive and never repeat", async () => {
  const made = await Promise.all(
    Array.from({ length: 20 }, () => issueClient(authority, { commonName: "a", organizations: [], clock })),
  );
  const serials = made.map((issued) => new X509Certificate(issued.certificatePem).serialNumber);
  assert.equal(new Set(serials).size, serials.length);
  for (const serial of serials) assert.match(serial, /^[4-7][0-9A-F]{31}$/);
});

test("nothing that is issued outlives its authority", async () => {
  const brief = await createAuthority({ commonName: "brief", clock, validDays: 2 });
  const issued = await issueServer(brief, { commonName: "api", hosts: ["a.example"], clock, validDays: 30 });
  assert.equal(new X509Certificate(issued.certificatePem).validToDate.getTime(), NOW + 2 * DAY_MS);
});

test("what a certificate can't hold is refused by name", async () => {
  const refused = (promise: Promise<unknown>, message: RegExp): Promise<void> =>
    assert.rejects(promise, (error) => isFault(error, "Invalid") && message.test(error.message));
  const server = (hosts: string[]): Promise<unknown> => issueServer(authority, { commonName: "a", hosts, clock });
  await refused(server([]), /at least one host/);
  for (const host of ["", "a b", "a..b", "-a.example", "[::1]", "https://a.example", `${"a".repeat(64)}.example`])
    await refused(server([host]), /neither an IP address nor a DNS name/);
  await refused(createAuthority({ commonName: "", clock }), /1 to 64 printable/);
  await refused(issueClient(authority, { commonName: "a\nb", organizations: [], clock }), /"a\\nb"/);
  await refused(issueClient(authority, { commonName: "a", organizations: ["x".repeat(65)], clock }), /1 to 64/);
});

test("a client's certificate is good for exactly the groups that it has, in any order", async () => {
  const groups = ["b", "a"];
  const issued = await issueClient(authority, { commonName: "user", organizations: groups, clock });
  const at = { now: NOW, leftMs: DAY_MS, commonName: "user" };
  assert.equal(isGood(issued, { ...at, organizations: ["a", "b"] }), true);
  for (const organizations of [[], ["a"], ["a", "b", "c"]])
    assert.equal(isGood(issued, { ...at, organizations }), false);
  assert.equal(isGood(issued, { ...at, commonName: "other" }), false);
  const alone = await issueClient(authority, { commonName: "user", organizations: ["a"], clock });
  assert.equal(isGood(alone, { ...at, organizations: ["a"] }), true);
  const none = await issueClient(authority, { commonName: "user", organizations: [], clock });
  assert.equal(isGood(none, { ...at, organizations: [] }), true);
});

test("a stored certificate is good until too little is left of it, for its hosts, its key and its authority only", async () => {
  const issued = await issueServer(authority, { commonName: "api", hosts: HOSTS, clock, validDays: 10 });
  const other = await createAuthority({ commonName: "slipway-ca", clock });
  const at = (days: number): { now: number; leftMs: number } => ({ now: NOW + days * DAY_MS, leftMs: DAY_MS });
  assert.equal(isGood(issued, at(8)), true);
  assert.equal(isGood(issued, at(9)), false);
  assert.equal(isGood(issued, at(-1)), false);
  assert.equal(isGood(issued, { ...at(0), hosts: HOSTS.filter((host) => !host.startsWith("*")) }), true);
  assert.equal(isGood(issued, { ...at(0), hosts: ["10.0.0.1"] }), false);
  assert.equal(isGood(issued, { ...at(0), authorityPem: authority.certificatePem }), true);
  assert.equal(isGood(issued, { ...at(0), authorityPem: other.certificatePem }), false);
  assert.equal(isGood({ ...issued, keyPem: other.keyPem }, at(0)), false);
  assert.equal(isGood({ certificatePem: "nonsense", keyPem: "" }, at(0)), false);
});
