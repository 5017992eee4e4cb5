import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, Secrets } from "@slipway/base";
import { trouble } from "./trouble.ts";

const system = (more: object): Error => Object.assign(new Error("as the system says it"), more);

test("a fault is one line with its remedy; one that the caller can remove ends with 2, another with 1", () => {
  const fault = (code: ConstructorParameters<typeof Fault>[0]) =>
    new Fault(code, "it", "is\n  so", { remedy: "change\nit" });
  for (const code of ["BadRequest", "MissingInput", "Invalid", "Unavailable"] as const)
    assert.deepEqual(trouble(fault(code)), { line: "it: is so; change it", exitCode: 2 });
  for (const code of ["BadCredentials", "Unauthorized", "Forbidden"] as const)
    assert.equal(trouble(fault(code)).exitCode, 2);
  for (const code of ["NotFound", "Internal", "LostAnswer"] as const) assert.equal(trouble(fault(code)).exitCode, 1);
});

test("what the operating system refuses is named by its place, with what can be done", () => {
  const lines: [Error, string][] = [
    [system({ code: "ENOENT", path: "/a" }), "/a: there is no such file or folder; correct the path"],
    [
      system({ code: "EADDRINUSE", address: "127.0.0.1", port: 80 }),
      "127.0.0.1:80: the port is taken; end what listens there, or choose another port (0: any free one)",
    ],
    [
      system({ code: "EADDRNOTAVAIL", address: "192.0.2.1" }),
      "192.0.2.1: this machine has no such address; choose one of its own, 127.0.0.1 or 0.0.0.0",
    ],
    [system({ code: "ENOTFOUND", hostname: "a.example" }), "a.example: no such host; correct the name"],
    [system({ code: "ENOSPC" }), ": the disk is full; free some space"],
  ];
  for (const [error, line] of lines) assert.deepEqual(trouble(error), { line, exitCode: 2 });
});

test("what is not expected is shown with its stack, and nothing shows a secret", () => {
  const { line, exitCode } = trouble(new TypeError("x is no function"));
  assert.match(line, /^TypeError: x is no function\n +at .*trouble\.test\.ts/);
  assert.equal(exitCode, 1);
  assert.deepEqual(trouble("a text"), { line: "a text", exitCode: 1 });
  const secrets = new Secrets();
  secrets.add("hunter2hunter2");
  assert.equal(trouble(new Fault("Invalid", "key", "hunter2hunter2 is none"), secrets).line, "key: [redacted] is none");
});
