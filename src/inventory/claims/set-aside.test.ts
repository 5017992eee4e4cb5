import assert from "node:assert/strict";
import { test } from "node:test";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { annotationsAfter, isSetAside } from "./set-aside.ts";

const FAILURES = "slipway.dev/failures";
const SET_ASIDE = "slipway.dev/set-aside";
const host = (annotations?: Record<string, string>): BareMetalHost => ({ metadata: { annotations } }) as never;
const after = (failures: string | undefined, tries: number) =>
  annotationsAfter(host(failures === undefined ? undefined : { [FAILURES]: failures }), {
    message: "no disk",
    tries,
    most: 3,
  });

test("failures of one consumer after the other are added up, a host that went well begins anew, and a count that is none counts as none", () => {
  assert.deepEqual(after(undefined, 1), { [FAILURES]: "1" });
  assert.deepEqual(after("1", 1), { [FAILURES]: "2" });
  assert.deepEqual(after("many", 1), { [FAILURES]: "1" });
  assert.deepEqual(after("1", 2), { [FAILURES]: null, [SET_ASIDE]: "3 installations failed; the last: no disk" });
  assert.deepEqual(annotationsAfter(host({ [FAILURES]: "2" }), undefined), { [FAILURES]: null });
  assert.deepEqual([isSetAside(host({ [SET_ASIDE]: "" })), isSetAside(host())], [true, false]);
});
