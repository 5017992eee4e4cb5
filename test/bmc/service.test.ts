/** Slipway's own Redfish service, judged by clients and a validator that we did not write. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { Bmcs } from "../../src/inventory/bmc/bmcs.ts";
import { judges } from "./judges.ts";
import { program } from "./program.ts";
import { serve } from "./serve.ts";

const found = judges(process.env);
const skip = typeof found === "string" ? found : false;
if (skip) console.log(`test-bmc: skipped: ${skip}`);
const path = (name: string): string => (typeof found === "string" ? name : found.program(name));

test("DMTF's protocol validator finds nothing wrong", { skip }, async (t) => {
  const { url, ca, credentials, folder } = await serve(t);
  const account = ["--user", credentials.username, "--password", credentials.password];
  const report = ["--report-dir", folder, "--report-type", "tsv", "--avoid-http-redirect"];
  const env = { REQUESTS_CA_BUNDLE: ca };
  const { code, text } = await program(path("rf_protocol_validator"), ["--rhost", url, ...account, ...report], env);
  const [, passed = "0"] = /PASS: (\d+), WARN: 0, FAIL: 0/.exec(stripVTControlCharacters(text)) ?? [];
  console.log(text.split("\n").find((line) => line.startsWith("Summary")));
  assert.equal(code, 0, text);
  assert.ok(Number(passed) >= 250, text);
});

test("sushy, Ironic's client, drives a machine with a session and with basic authentication", { skip }, async (t) => {
  const { url, ca, credentials, machine } = await serve(t);
  const script = join(import.meta.dirname, "sushy_client.py");
  const { code, text } = await program(
    path("python"),
    [script, url, ca, credentials.username, credentials.password],
    {},
  );
  assert.equal(code, 0, text);
  const round = ["boot Pxe once", "on", "inserted", "ejected", "off", "52:54:00:00:00:01"];
  assert.deepEqual(text.trim().split("\n"), [...round, ...round]);
  assert.deepEqual(
    machine.starts.map(({ from }) => from),
    ["Pxe", "Pxe"],
  );
});

test("redfishtool lists a machine, switches it and sets its boot device", { skip }, async (t) => {
  const { url, ca, credentials, machine } = await serve(t);
  const common = [
    "-S",
    "Always",
    "-r",
    url.replace("https://", ""),
    "-u",
    credentials.username,
    "-p",
    credentials.password,
  ];
  const tool = async (...args: string[]): Promise<string> => {
    const { code, text } = await program(path("redfishtool"), [...common, ...args], { REQUESTS_CA_BUNDLE: ca });
    assert.equal(code, 0, text);
    return text;
  };
  assert.ok((await tool("-A", "Session", "Systems", "list")).includes(machine.id));
  await tool("-A", "Basic", "Systems", "setBootOverride", "Once", "Pxe");
  assert.deepEqual(machine.boot(), { enabled: "Once", target: "Pxe", mode: "UEFI" });
  await tool("-A", "Basic", "Systems", "reset", "On");
  assert.match(machine.power(), /On$/);
});

test("our client trusts the service by its certificate, and without it does not", async (t) => {
  const { url, pem, credentials, machine } = await serve(t);
  const bmcs = new Bmcs();
  const address = url.replace("https", "redfish");
  const trusted = bmcs.open({ address, credentials, trust: { ca: pem }, uuid: machine.uuid });
  await trusted.setPower("on");
  assert.equal(machine.power(), "On");
  await trusted.close();
  const strange = bmcs.open({ address, credentials });
  await assert.rejects(strange.readPower(), { code: "UntrustedCertificate" });
  await strange.close();
  const anyone = bmcs.open({ address, credentials, trust: { anyCertificate: true } });
  assert.equal(await anyone.readPower(), "on");
  await anyone.close();
});
