import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { createAuthority } from "../../pki/authority.ts";
import { clientFileText, readClientFile } from "./client-file.ts";

const authority = await createAuthority({ commonName: "plunder", clock: new VirtualClock() });
const { certificatePem, keyPem } = authority;
const FILE = { address: "10.0.0.1", port: 60_443, certificatePem };
const credentials = { certificatePem, keyPem, authorityPem: certificatePem };

test("plunder's client file is read as it was written, with and without a client certificate", () => {
  for (const file of [FILE, { ...FILE, address: "fd00::1", credentials }])
    assert.deepEqual(readClientFile(clientFileText(file), "f"), file);
  // The original's clients read these three fields.
  assert.deepEqual(
    clientFileText(FILE)
      .trimEnd()
      .split("\n")
      .map((line) => line.split(":")[0]),
    ["address", "port", "cert"],
  );
});

test("a client file with something missing or wrong is refused by its field, and no value is shown", () => {
  const whole = clientFileText({ ...FILE, credentials });
  const without = (field: string) =>
    whole
      .split("\n")
      .filter((line) => !line.startsWith(`${field}:`))
      .join("\n");
  const replaced = (field: string, value: string) => `${without(field)}${field}: ${value}\n`;
  const key = Buffer.from(keyPem).toString("base64");
  for (const [text, message] of [
    [without("clientKey"), /clientCert: clientCert, clientKey and authority belong together/],
    [without("authority"), /belong together/],
    [without("cert"), /cert: base64 of a PEM text is needed/],
    [replaced("cert", "geheim"), /cert: base64 of a PEM text is needed/],
    [replaced("cert", key), /cert: is no certificate/],
    [replaced("address", "geheim/x"), /address: an address is needed/],
    [replaced("port", "0"), /line \d+, port: /],
    [replaced("port", "65536"), /line \d+, port: /],
  ] as const)
    assert.throws(
      () => readClientFile(text, "plunderclient.yaml"),
      (error) => isFault(error, "Invalid") && message.test(error.message) && !/geheim|PRIVATE/.test(error.message),
      String(message),
    );
});
