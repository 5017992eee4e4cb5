import assert from "node:assert/strict";
import { test } from "node:test";
import { takeOverHardware, takeOverStatus } from "./handed-over.ts";
import { factsOf } from "./testing.ts";

const STATUS = "baremetalhost.metal3.io/status";
const HARDWARE = "inspect.metal3.io/hardwaredetails";

function factsWith(annotations: Record<string, string>, more: Parameters<typeof factsOf>[1] = {}) {
  const facts = factsOf("", more);
  facts.host.metadata.annotations = annotations;
  return facts;
}
const given = {
  operationalStatus: "OK",
  errorMessage: "",
  poweredOn: true,
  provisioning: { state: "provisioned", ID: "x" },
};

test("a status that was brought along becomes the host's, its hardware from HardwareData where it has none", () => {
  assert.equal(takeOverStatus(factsWith({})), undefined);
  const recorded = { ramMebibytes: 4_096 };
  const taken = (status: object) => takeOverStatus(factsWith({ [STATUS]: JSON.stringify(status) }, { recorded }));
  const step = taken(given);
  assert.ok(step?.do === "write");
  assert.deepEqual(
    [step.fields.provisioning?.state, step.fields.hardware, step.event?.reason],
    ["provisioned", recorded, "StatusTakenOver"],
  );
  const own = taken({ ...given, hardware: { ramMebibytes: 8_192 } });
  assert.deepEqual(own?.do === "write" && own.fields.hardware, { ramMebibytes: 8_192 });
  const none = takeOverStatus(factsWith({ [STATUS]: JSON.stringify(given) }));
  assert.equal(none?.do === "write" && "hardware" in none.fields && none.fields.hardware !== undefined, false);
});

test("a status that can't be read, or has something else in a field's place, is an error that is said once", () => {
  for (const [text, why] of [
    ['{"provisioning":', /annotation .*status: it is no JSON object; correct it, or take it off/],
    ['{"poweredOn": "yes"}', /annotation .*status: .*poweredOn/s],
  ] as const) {
    const step = takeOverStatus(factsWith({ [STATUS]: text }));
    assert.ok(step?.do === "write");
    assert.match(`${step.fields.errorMessage}`, why);
    assert.deepEqual(
      [step.fields.operationalStatus, step.fields.errorType, step.event?.reason],
      ["error", "registration error", "RegistrationError"],
    );
    const { errorMessage } = step.fields;
    assert.deepEqual(takeOverStatus(factsWith({ [STATUS]: text }, { status: { errorMessage } })), {
      do: "wait",
      forWhat: errorMessage,
    });
  }
});

test("hardware that was brought along is written down where none is known", () => {
  const annotations = { [HARDWARE]: '{"ramMebibytes":1}' };
  assert.deepEqual(takeOverHardware(factsWith(annotations)), { do: "describe", hardware: { ramMebibytes: 1 } });
  assert.equal(takeOverHardware(factsWith({})), undefined);
  assert.equal(takeOverHardware(factsWith(annotations, { status: { hardware: {} } })), undefined);
});
