import assert from "node:assert/strict";
import { test } from "node:test";
import { haproxyConfig } from "./haproxy-config.ts";

const base = { ports: [{ name: "http", port: 6443 }], check: "apiserver", healthPort: 8404 } as const;

test("SIP-19 IPv6 addresses are bracketed, and then HAProxy listens on both families", () => {
  const config = haproxyConfig({ ...base, servers: [{ name: "six", address: "2001:db8::1" }] });
  assert.match(config, /^ {2}server six \[2001:db8::1\]:6443$/m);
  assert.match(config, /^ {2}bind :::6443 v4v6$/m);
});

test("SIP-16 a name or an address that would add a word or a line is refused", () => {
  for (const server of [
    { name: "a b", address: "10.0.0.1" },
    { name: "a\nglobal", address: "10.0.0.1" },
    { name: "a", address: "10.0.0.1:80 backup" },
  ])
    assert.throws(() => haproxyConfig({ ...base, servers: [server] }), /haproxy\.cfg/);
});
