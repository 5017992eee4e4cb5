import assert from "node:assert/strict";
import { test } from "node:test";
import { macFromBytes } from "@slipway/base";
import fc from "fast-check";
import { Capabilities } from "./boot-capability.ts";

const MAC = "52:54:00:12:34:56";
const KEY = new Uint8Array(32).fill(7);
const clock = { now: () => 1_000_000 };
const capabilities = new Capabilities(KEY, clock);

test("N1 what is granted to a machine is read back, with the address where it was handed to, for that and nothing else, until it is over", () => {
  const mac = fc.uint8Array({ minLength: 6, maxLength: 6 }).map(macFromBytes);
  fc.assert(
    fc.property(
      mac,
      fc.string({ maxLength: 40 }),
      fc.string({ maxLength: 40 }),
      fc.integer({ min: 0, max: 2 ** 41 }),
      (mac, to, other, until) => {
        const token = capabilities.grant({ mac, to, until });
        const good = Math.floor(until / 1000) * 1000 > clock.now();
        assert.match(token, /^slc_[A-Za-z0-9_-]+$/);
        assert.deepEqual(capabilities.check(token, to), good ? { mac } : undefined);
        const bound = capabilities.grant({ mac, address: "10.0.0.5", to, until });
        assert.deepEqual(capabilities.check(bound, to), good ? { mac, address: "10.0.0.5" } : undefined);
        if (other !== to) assert.equal(capabilities.check(token, other), undefined);
      },
    ),
  );
});

test("N1 a capability that was changed, made up, or sealed with another key is none", () => {
  const token = capabilities.grant({ mac: MAC, to: "agent", until: 2_000_000 });
  const other = new Capabilities(new Uint8Array(32).fill(8), clock).grant({ mac: MAC, to: "agent", until: 2_000_000 });

  assert.equal(capabilities.check(other, "agent"), undefined);
  for (let at = 0; at < token.length; at++) {
    const changed = token.slice(0, at) + (token[at] === "A" ? "B" : "A") + token.slice(at + 1);
    assert.equal(capabilities.check(changed, "agent"), undefined, changed);
  }
  fc.assert(fc.property(fc.string(), (text) => assert.equal(capabilities.check(text, "agent"), undefined)));
  assert.equal(capabilities.check(`slc_${"A".repeat(100_000)}`, "agent"), undefined);
});

test("a key of another length is refused", () => {
  assert.throws(() => new Capabilities(new Uint8Array(16), clock), /a key of 16 bytes/);
});
