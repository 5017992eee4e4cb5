/** How devices become ports of bridges, by the kernel itself. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { systemLinks } from "../../src/node-agent/node/links.ts";
import { inside } from "./inside.ts";

inside(import.meta.url, () => {
  test("a device becomes a port of a bridge and is set up, and a refusal says why", async () => {
    execFileSync("ip", ["link", "add", "br5", "type", "bridge"]);
    assert.equal((await systemLinks.masters()).get("wire"), undefined);
    assert.ok((await systemLinks.masters()).has("wire"));
    await systemLinks.plug("wire", "br5");
    assert.equal((await systemLinks.masters()).get("wire"), "br5");
    assert.match(execFileSync("ip", ["link", "show", "dev", "wire"]).toString(), /[<,]UP[,>]/);
    await assert.rejects(systemLinks.plug("wire", "br5"), {
      code: "Unavailable",
      message: /wire becomes a port of br5: /,
    });
    await assert.rejects(systemLinks.plug("none", "br5"), { code: "Unavailable", message: /none: No such device/ });
    await assert.rejects(systemLinks.plug("wire-far", "wire"), { code: "Unavailable" });
  });
});
