import assert from "node:assert/strict";
import { test } from "node:test";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { rebootWish } from "./annotations.ts";

const wish = (annotations: Record<string, string>) =>
  rebootWish({ metadata: { name: "a", annotations } } as unknown as BareMetalHost);

test("reboot annotations: those with an owner hold the host off, the plain one goes; any hard one makes it hard", () => {
  assert.equal(wish({ "reboot.metal3.iox": "" }), undefined);
  assert.deepEqual(wish({ "reboot.metal3.io": "" }), { mode: "soft", once: ["reboot.metal3.io"], held: [] });
  assert.deepEqual(wish({ "reboot.metal3.io": '{"mode":"hard"}', "reboot.metal3.io/me": "" }), {
    mode: "hard",
    once: ["reboot.metal3.io"],
    held: ["reboot.metal3.io/me"],
  });
  for (const value of ['{"mode":"soft"}', "{", "null", '"hard"', "[]"])
    assert.equal(wish({ "reboot.metal3.io/me": value })?.mode, "soft", value);
});
