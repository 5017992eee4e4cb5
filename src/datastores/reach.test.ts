import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, isFault } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { parseEndpoints } from "./endpoint.ts";
import { firstReached, networkFault, within } from "./reach.ts";

test("B24 each error of the network or of TLS says what it is and which field to correct", () => {
  const cases: (readonly [code: string, Fault["code"], remedy: RegExp])[] = [
    ...(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "ETIMEDOUT", "EACCES"] as const).map(
      (code) => [code, "Unavailable", /spec.endpoints/] as const,
    ),
    ...(["ECONNRESET", "EPIPE", "ERR_STREAM_DESTROYED", "ERR_STREAM_PREMATURE_CLOSE"] as const).map(
      (code) => [code, "Unavailable", /tried again/] as const,
    ),
    ...(
      [
        ...["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "SELF_SIGNED_CERT_IN_CHAIN", "DEPTH_ZERO_SELF_SIGNED_CERT"],
        ...["CERT_HAS_EXPIRED", "ERR_TLS_CERT_ALTNAME_INVALID", "HOSTNAME_MISMATCH", "INVALID_CA", "INVALID_PURPOSE"],
      ] as const
    ).map((code) => [code, "UntrustedCertificate", /certificateAuthority/] as const),
    ["ERR_SSL_TLSV1_ALERT_UNKNOWN_CA", "BadCredentials", /clientCertificate/],
    ["ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE", "BadCredentials", /clientCertificate/],
    ["ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", "BadCredentials", /clientCertificate/],
    ["ERR_SSL_WRONG_VERSION_NUMBER", "Invalid", /remove spec.tlsConfig/],
    ["ERR_SSL_PACKET_LENGTH_TOO_LONG", "Invalid", /remove spec.tlsConfig/],
    ["ERR_OSSL_X509_KEY_VALUES_MISMATCH", "Invalid", /keys in spec.tlsConfig/],
    ["ERR_CRYPTO_INVALID_KEYTYPE", "Invalid", /keys in spec.tlsConfig/],
  ];
  for (const [code, kind, remedy] of cases) {
    const fault = networkFault(Object.assign(new Error("text"), { code }), "etcd db:2379");
    assert.equal(fault?.code, kind, code);
    assert.match(fault!.message, /^etcd db:2379: /);
    assert.match(fault!.remedy!, remedy, code);
  }
});

test("what is no error of the network is left to the driver", () => {
  for (const error of [new Error("no code"), { code: "ER_PARSE_ERROR" }, { code: "X_CERT_HAS_EXPIRED" }])
    assert.equal(networkFault(error, "db"), undefined);
});

test("an answer that does not come is given up after its time, and the work with it", async () => {
  const clock = new VirtualClock();
  let signalOfWork: AbortSignal | undefined;
  const asked = within({ clock, ms: 5_000, signal: new AbortController().signal, on: "db:1" }, (signal) => {
    signalOfWork = signal;
    return new Promise<never>(() => {});
  });
  const given = assert.rejects(asked, (error) => {
    return isFault(error, "Unavailable") && error.message === "db:1: no answer within 5000 ms";
  });
  await clock.run(4_999);
  assert.equal(signalOfWork?.aborted, false);
  await clock.run(1);
  assert.equal(signalOfWork?.aborted, true);
  await given;
});

test("who gives up first says why; nothing is begun for who has given up before", async () => {
  const clock = new VirtualClock();
  const giving = new AbortController();
  const limits = { clock, ms: 5_000, signal: giving.signal, on: "db:1" };
  const asked = within(limits, () => new Promise<never>(() => {}));
  giving.abort(new Fault("Conflict", "operator", "it stops"));
  await assert.rejects(asked, (error) => isFault(error, "Conflict"));
  await assert.rejects(
    within(limits, () => assert.fail("begun")),
    (error) => isFault(error, "Conflict"),
  );
});

test("the work's own error is explained by its driver; a result that is in time ends the waiting", async () => {
  const clock = new VirtualClock();
  const limits = { clock, ms: 5_000, signal: new AbortController().signal, on: "db:1" };
  const broken = async (): Promise<never> => {
    throw new Error("broken");
  };
  await assert.rejects(within(limits, broken), /^Error: broken$/);
  const explain = (error: unknown, on: string): unknown => new Fault("NoCapacity", on, (error as Error).message);
  await assert.rejects(within({ ...limits, explain }, broken), (error) => isFault(error, "NoCapacity"));
  assert.equal(await within(limits, async () => 7), 7);
});

test("the first endpoint that is reached is used; another kind of fault ends the search", async () => {
  const endpoints = parseEndpoints("etcd", ["a", "b", "c"]);
  const asked: string[] = [];
  const opening =
    (of: Record<string, Fault["code"] | undefined>) =>
    async ({ host }: { host: string }): Promise<string> => {
      asked.push(host);
      const code = of[host];
      if (code !== undefined) throw new Fault(code, host, "no");
      return host;
    };
  assert.equal(await firstReached(endpoints, opening({ a: "Unavailable" })), "b");
  assert.deepEqual(asked.splice(0), ["a", "b"]);
  await assert.rejects(firstReached(endpoints, opening({ a: "BadCredentials" })), (error) => {
    return isFault(error, "BadCredentials");
  });
  assert.deepEqual(asked.splice(0), ["a"]);
  const all = opening({ a: "Unavailable", b: "Unavailable", c: "Unavailable" });
  await assert.rejects(firstReached(endpoints, all), (error) => isFault(error, "Unavailable") && error.on === "c");
});
