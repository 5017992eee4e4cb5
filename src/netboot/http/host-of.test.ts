import assert from "node:assert/strict";
import { test } from "node:test";
import type { Host } from "../hosts/host.ts";
import { hostOf } from "./host-of.ts";

const KNOWN = "52:54:00:00:00:0a";
const NEW = "52:54:00:00:00:0b";

/** Capabilities are `CARD-FOR`; `slh_a` is the token of host a. */
const of = hostOf({
  hosts: {
    get: (mac: string) => (mac === KNOWN ? ({ name: "a" } as Host) : undefined),
    byToken: (token: string) => (token === "slh_a" ? ({ name: "a" } as Host) : undefined),
  },
  capabilities: {
    check(token: string, to: string) {
      const mac = { known: KNOWN, new: NEW }[token.split("-")[0]!];
      return mac !== undefined && token.split("-")[1] === to.replace("private:", "") ? { mac } : undefined;
    },
  },
});
const asked = (path: string, authorization = ""): string | undefined => of({ path, authorization });

test("a request is its host's by the agent's token, the boot's capability, or the capability in a private file's path", () => {
  assert.equal(asked("/agent/v1/hosts/a/orders", "Bearer slh_a"), "a");
  assert.equal(asked("/agent/v1/hosts", "bearer  known-agent"), "a");
  assert.equal(asked("/private/known-1/1/image"), "a");
});

test("a machine that is not known yet is its card", () => {
  assert.equal(asked("/agent/v1/hosts", "Bearer new-agent"), NEW);
  assert.equal(asked("/private/new-1/1/image"), NEW);
});

test("what proves nothing is nobody's", () => {
  assert.equal(asked("/agent/v1/hosts"), undefined);
  assert.equal(asked("/agent/v1/hosts", "Bearer slh_b"), undefined);
  assert.equal(asked("/agent/v1/hosts", "Basic slh_a"), undefined);
  assert.equal(asked("/agent/v1/hosts", "Bearer known-1"), undefined);
  assert.equal(asked("/private/known-agent/agent-2/image"), undefined);
  assert.equal(asked("/private/known-1/2/image"), undefined);
  assert.equal(asked("/private/known-1/1/image", "Bearer slh_b"), undefined, "a token that is sent goes first");
  assert.equal(asked("/files/private/known-1/1/image"), undefined);
});
