import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import { type DriveSecrets, hostConfigDrive } from "./config-drive.ts";

const HOST = { name: "host-0", namespace: "metal", uid: "7f1c7f0e-9f3a-4d52-8a51-6f2f3f0c9b11" };
const META = "openstack/latest/meta_data.json";
const USER = "openstack/latest/user_data";
const NETWORK = "openstack/latest/network_data.json";

const DEFAULTS = {
  uuid: HOST.uid,
  name: "host-0",
  "metal3-name": "host-0",
  "metal3-namespace": "metal",
  "local-hostname": "host-0",
  local_hostname: "host-0",
};

test("a host without Secrets has Metal3's metadata and no other file", () => {
  const drive = hostConfigDrive(HOST, {});
  assert.deepEqual(Object.keys(drive), [META]);
  assert.deepEqual(JSON.parse(drive[META]!), DEFAULTS);
});

for (const where of ["its field's name", "value"])
  test(`a Secret's text is under ${where}`, () => {
    const secret = (field: string, text: string) => ({ [where === "value" ? "value" : field]: text, other: "x" });
    const drive = hostConfigDrive(HOST, {
      userData: secret("userData", "#cloud-config\nhostname: a\n"),
      metaData: secret("metaData", "name: machine-1\ncount: 2\n"),
      networkData: secret("networkData", '{"links": [], "networks": []}'),
    });
    assert.equal(drive[USER], "#cloud-config\nhostname: a\n");
    assert.deepEqual(JSON.parse(drive[META]!), { ...DEFAULTS, name: "machine-1", count: 2 });
    assert.deepEqual(JSON.parse(drive[NETWORK]!), { links: [], networks: [] });
  });

test("the field's own key goes before value", () => {
  const drive = hostConfigDrive(HOST, { userData: { value: "other", userData: "mine" } });
  assert.equal(drive[USER], "mine");
});

test("user data is given on as it is, whatever it holds", () => {
  const text = "#!/bin/sh\necho ' \"$HOME\" \u0000 \u{1f600}'\r\n";
  assert.equal(hostConfigDrive(HOST, { userData: { userData: text } })[USER], text);
});

test("the Secret's metadata may replace every default, the instance's id included", () => {
  const drive = hostConfigDrive(HOST, { metaData: { metaData: "uuid: u-2\nlocal-hostname: b\n" } });
  assert.deepEqual(JSON.parse(drive[META]!), { ...DEFAULTS, uuid: "u-2", "local-hostname": "b" });
});

test("empty texts are no file", () => {
  const drive = hostConfigDrive(HOST, {
    userData: { userData: "" },
    metaData: { value: "" },
    networkData: { networkData: "# nothing\n" },
  });
  assert.deepEqual(Object.keys(drive), [META]);
});

test("a date, and what looks like one, stays text", () => {
  const drive = hostConfigDrive(HOST, { metaData: { metaData: "built: 2026-11-23\nmac: 52:54:00:12:34:56\n" } });
  const { built, mac } = JSON.parse(drive[META]!) as Record<string, unknown>;
  assert.deepEqual([built, mac], ["2026-11-23", "52:54:00:12:34:56"]);
});

const wrong: readonly [string, DriveSecrets, RegExp][] = [
  [
    "neither key",
    { userData: { userdata: "x" } },
    /spec\.userData: the Secret has neither the key userData nor the key value/,
  ],
  ["no YAML", { networkData: { value: "a: 1\nb: [secret\n" } }, /spec\.networkData: not YAML, line \d/],
  ["no mapping", { metaData: { value: "- secret\n" } }, /spec\.metaData: is no mapping/],
  ["a text", { networkData: { value: "secret" } }, /spec\.networkData: is no mapping/],
  ["two documents", { metaData: { value: "a: 1\n---\nb: secret\n" } }, /spec\.metaData: there is more than one/],
  ["an id that is no text", { metaData: { value: "uuid: 5\n" } }, /config drive: metaData\.uuid/],
  ["many aliases", { metaData: { value: `a: &a [x]\nb: [${"*a, ".repeat(20)}]\n` } }, /spec\.metaData: not YAML/],
];
for (const [what, secrets, message] of wrong)
  test(`${what}: refused by the field's name, and nothing of the Secret is shown`, () => {
    assert.throws(
      () => hostConfigDrive(HOST, secrets),
      (error: Fault) =>
        error instanceof Fault &&
        error.code === "Invalid" &&
        message.test(error.message) &&
        !/secret/.test(error.message),
    );
  });
