import assert from "node:assert/strict";
import { test } from "node:test";
import { asFault, Fault, isFault } from "./fault.ts";

test("a fault says where, what and what to do, in one line", () => {
  const fault = new Fault("BadCredentials", "MachineProvider/metal", "the API answered 401", {
    remedy: "set a valid key",
  });

  assert.equal(fault.message, "MachineProvider/metal: the API answered 401");
  assert.equal(fault.advice, "MachineProvider/metal: the API answered 401; set a valid key");
  assert.equal(new Fault("Bug", "a", "b").advice, "a: b");
});

test("what passes by itself is retried, what needs a change of the object is not", () => {
  for (const code of [
    "Throttled",
    "Unavailable",
    "LostAnswer",
    "NoCapacity",
    "Conflict",
    "NoEffect",
    "UntrustedCertificate",
  ] as const) {
    assert.equal(new Fault(code, "a", "b").retryable, true, code);
  }
  for (const code of ["Invalid", "Refused", "Bug", "Undeclared", "Unsupported"] as const) {
    assert.equal(new Fault(code, "a", "b").retryable, false, code);
  }
});

test("a fault is known by its code", () => {
  const fault = new Fault("NotFound", "a", "b");

  assert.equal(isFault(fault), true);
  assert.equal(isFault(fault, "Gone", "NotFound"), true);
  assert.equal(isFault(fault, "Gone"), false);
  assert.equal(isFault(new Error("NotFound"), "NotFound"), false);
});

test("any thrown thing becomes a fault that keeps its cause; a fault stays itself", () => {
  const fault = new Fault("NotFound", "a", "b");
  const cause = new TypeError("x is undefined");

  assert.equal(asFault(fault, "pool/a"), fault);
  assert.equal(asFault(cause, "pool/a").cause, cause);
  assert.equal(asFault(cause, "pool/a").message, "pool/a: x is undefined");
  assert.equal(asFault("text", "pool/a").code, "Internal");
});
