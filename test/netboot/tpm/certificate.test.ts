/** What makers store in TPMs, read from one that we did not write, and what comes of it for the approval of its machine. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { isFault, cryptoRandom as random } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { TpmProofs } from "../../../src/netboot/agent/tpm-proofs.ts";
import type { Hosts } from "../../../src/netboot/hosts/hosts.ts";
import { inventoryOf, someHosts } from "../../../src/netboot/hosts/testing.ts";
import { type TpmAuthorities, tpmAuthorities } from "../../../src/netboot/tpm/authorities.ts";
import { endorsementKey, maker, NOW } from "../../../src/netboot/tpm/testing.ts";
import { noTpm, TpmEmulator } from "./emulator.ts";

const skip = noTpm();
const MAC = "52:54:00:00:00:0a";
const CERTIFICATE = 0x01c0_0002;
const CHAIN = 0x01c0_0100;
const DAY_MS = 86_400_000;

interface Machine {
  hosts: Hosts;
  /** Has the machine register, and prove its TPM as its agent does. Resolves with what is known of its certificate. */
  proves(): Promise<NonNullable<NonNullable<ReturnType<Hosts["get"]>>["tpm"]>["certificate"]>;
}

/** A machine with the TPM, at a netboot with these authorities. `since`: what its clock shows. */
function machine(t: TestContext, tpm: TpmEmulator, authorities: TpmAuthorities | undefined, since = NOW): Machine {
  const clock = new VirtualClock(since);
  const makers = authorities?.fingerprints;
  const hosts = someHosts(clock, { ...(makers && { makers }) });
  t.after(() => hosts.close());
  const proofs = new TpmProofs({ hosts, clock, random, ...(authorities && { authorities }) });
  return {
    hosts,
    async proves() {
      const { host, token } = hosts.register(inventoryOf(MAC), MAC);
      let lines: string[] = [];
      for (
        let commands = proofs.next(host, token, lines);
        commands !== undefined;
        commands = proofs.next(host, token, lines)
      )
        lines = (await tpm.carryOut(commands)).map((answer) => answer.toString("hex"));
      return hosts.get(MAC)?.tpm?.certificate;
    },
  };
}

async function start(t: TestContext, how: "start" | "certified" = "start"): Promise<TpmEmulator> {
  const tpm = await TpmEmulator[how]();
  t.after(() => tpm.close());
  return tpm;
}

test("the certificate that swtpm's own authority has stored is read whole, and counts where that authority is named", {
  skip,
}, async (t) => {
  const tpm = await start(t, "certified");
  const root = tpm.read("ca/swtpm-localca-rootca-cert.pem").toString();
  const issuer = tpm.read("ca/issuercert.pem").toString();
  const now = Date.now();
  const named = machine(t, tpm, tpmAuthorities(issuer, "issuer"), now);
  const certificate = await named.proves();
  assert.deepEqual([certificate?.issuer, certificate?.because], ["CN=swtpm-localca", undefined]);
  named.hosts.approve(MAC);
  const { trust, because } = named.hosts.standing(MAC);
  assert.equal(trust, "approved");
  assert.match(because, /^by its TPM [0-9a-f]{64}, for which CN=swtpm-localca vouches$/);

  // The root alone is not enough, unless the TPM has what is between.
  const above = machine(t, tpm, tpmAuthorities(root, "root"), now);
  assert.match(
    (await above.proves())?.because ?? "",
    /leads to no authority of tpmAuthorities, but to CN=swtpm-localca$/,
  );
  const between = Buffer.from(issuer.replace(/-----[^-]+-----|\s/g, ""), "base64");
  await tpm.store(CHAIN, between.subarray(0, 700));
  await tpm.store(CHAIN + 1, between.subarray(700));
  assert.equal((await above.proves())?.because, undefined);
});

test("a TPM whose certificate is missing or wrong is not approved, and why is said; without authorities it is", {
  skip,
}, async (t) => {
  const tpm = await start(t);
  const key = await tpm.endorsementKey();
  const [ours, other] = [await maker("Ours"), await maker("Other")];
  const { hosts, proves } = machine(t, tpm, tpmAuthorities(ours.pem, "ours"));
  const lax = machine(t, tpm, undefined);
  const padded = Buffer.concat([await ours.certify(key), Buffer.alloc(300, 0xff)]);
  const wrong: [content: Buffer | undefined, because: RegExp][] = [
    [undefined, /^its TPM has no certificate of its maker$/],
    [await ours.certify(endorsementKey().public), /^its TPM has a certificate for another key$/],
    [await other.certify(key), /leads to no authority of tpmAuthorities, but to CN=Other$/],
    [await ours.certify(key, { to: NOW - DAY_MS / 2 }), /has a certificate that has ended at 2026-05-31T12:00/],
    [Buffer.alloc(1_500, 0x30), /has bytes that are no certificate/],
  ];
  for (const [content, because] of wrong) {
    if (content !== undefined) await tpm.store(CERTIFICATE, content);
    await proves();
    assert.throws(
      () => hosts.approve(MAC),
      (error) =>
        isFault(error, "Conflict") &&
        because.test(error.message.replace(/^[^:]+: /, "")) &&
        /tpmAuthorities/.test(error.remedy ?? ""),
      String(because),
    );
    assert.equal(hosts.standing(MAC).trust, "discovered");
    await lax.proves();
    lax.hosts.approve(MAC);
    assert.equal(lax.hosts.standing(MAC).trust, "approved");
  }
  await tpm.store(CERTIFICATE, padded);
  const { authority, because } = (await proves())!;
  assert.deepEqual([authority?.length, because], [64, undefined]);
  hosts.approve(MAC);
  assert.equal(hosts.standing(MAC).trust, "approved");

  // Another certificate at a later boot takes the trust away again.
  await tpm.store(CERTIFICATE, await other.certify(key));
  await proves();
  const { trust, because: why } = hosts.standing(MAC);
  assert.equal(trust, "discovered");
  assert.match(why, /approved with the TPM [0-9a-f]{64}: its TPM has a certificate that leads to no authority/);
});
