import assert from "node:assert/strict";
import { test } from "node:test";
import { selfSigned } from "@slipway/base/testing";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { type Certificates, renewedCertificates } from "./certificate-files.ts";

test("certificates are read again after a minute and at once after a refusal; what is half written, or gone, leaves the last ones in use", async () => {
  const clock = new VirtualClock();
  const { cert: ca } = await selfSigned("ca");
  const issue = async (): Promise<Certificates> => ({ ca, ...(await selfSigned("c")) });
  const [first, second, third] = [await issue(), await issue(), await issue()];
  let inFiles: Certificates | undefined = first;
  const certificates = renewedCertificates(clock, first, async () => {
    if (inFiles === undefined) throw new Error("no such file");
    return inFiles;
  });

  assert.equal(await certificates(false), first);
  inFiles = second;
  assert.equal(await certificates(false), first, "within the minute");
  assert.equal(await certificates(true), second);
  inFiles = { ...third, key: second.key! };
  assert.equal(await certificates(true), second, "the key is not the certificate's");
  inFiles = undefined;
  assert.equal(await certificates(true), second);
  inFiles = third;
  await clock.run(60_000);
  assert.equal(await certificates(false), third);
});
