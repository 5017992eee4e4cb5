import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import { at, linkAt, linksAt, textAt, textsAt, typeOf } from "./body.ts";
import { applyTime } from "./settings.ts";
import { untrusted } from "./trust.ts";

test("what a BMC answers is read whatever is in it", () => {
  const body = {
    a: { b: " x " },
    empty: "  ",
    n: 1,
    list: ["x", 2, "y"],
    links: [{ "@odata.id": "/1" }, {}, null, "x"],
  };
  assert.deepEqual(
    [at(body, "a", "b"), at(body), at(body, "a", "c"), at(null, "a"), at("x", "length")],
    [...[" x ", body, undefined, undefined, undefined]],
  );
  assert.equal(at({}, "toString"), undefined);
  assert.deepEqual([textAt(body, "a", "b"), textAt(body, "empty"), textAt(body, "n")], ["x", undefined, undefined]);
  assert.deepEqual([textsAt(body, "list"), textsAt(body, "a")], [["x", "y"], undefined]);
  assert.deepEqual(
    [linksAt(body, "links"), linksAt(body, "a"), linkAt({ s: { "@odata.id": "/s" } }, "s")],
    [["/1"], [], "/s"],
  );
});

test("a type is its name, with or without namespace and version", () => {
  const type = (text: unknown) => typeOf({ "@odata.type": text });
  assert.deepEqual(
    [type("#ComputerSystem.v1_20_0.ComputerSystem"), type("#Task"), type(7)],
    ["ComputerSystem", "Task", undefined],
  );
});

test("a change of the settings takes effect at once where it can, else at the next start", () => {
  const of = (times: unknown) => applyTime({ "@Redfish.Settings": { SupportedApplyTimes: times } });
  const time = (ApplyTime: string) => ({ "@Redfish.SettingsApplyTime": { ApplyTime } });
  assert.deepEqual(of(["OnReset", "Immediate"]), time("Immediate"));
  assert.deepEqual(of(["AtMaintenanceWindowStart", "OnReset"]), time("OnReset"));
  assert.deepEqual([of(["Never"]), of(undefined), applyTime({})], [{}, {}, {}]);
});

test("a certificate that is not accepted is told apart from other failures", () => {
  const named = (code: string) => Object.assign(new Error("why"), { code });
  const fault = untrusted("https://bmc", new Fault("Unavailable", "http", "x", { cause: named("CERT_HAS_EXPIRED") }))!;
  assert.equal(fault.code, "UntrustedCertificate");
  assert.match(fault.advice, /not trusted: why \(CERT_HAS_EXPIRED\); trust the authority/);
  assert.equal(untrusted("b", named("DEPTH_ZERO_SELF_SIGNED_CERT"))?.code, "UntrustedCertificate");
  for (const other of [named("ECONNRESET"), new Error("x"), undefined, new Fault("Unavailable", "http", "x")])
    assert.equal(untrusted("b", other), undefined);
});
