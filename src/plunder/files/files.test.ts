import assert from "node:assert/strict";
import { test } from "node:test";
import { type Fault, isFault } from "@slipway/base";
import { BootConfig, CONFIG_TYPES, isInstaller, typeOf } from "./boot-config.ts";
import { Deployments, inherited } from "./deployment.ts";
import { checkedDocument, readDocument, refused } from "./document.ts";

test("a boot configuration of no known type is kernel, initrd and command line alone", () => {
  assert.deepEqual(
    ["ubuntu", "Preseed", "", undefined].map((configType) => typeOf({ configType })),
    [...["default", "default", "default", "default"]],
  );
  for (const type of CONFIG_TYPES) assert.equal(typeOf({ configType: type }), type);
  assert.deepEqual(CONFIG_TYPES.filter(isInstaller), ["preseed", "kickstart", "autoinstall"]);
});

test("a boot configuration's name is letters, digits, dots and dashes, and its values are one line", () => {
  const isTaken = (of: object) => BootConfig.safeParse({ configName: "a", ...of }).success;
  const most = "x".repeat(63);
  assert.deepEqual(
    ["ubuntu-24.04_a", most].map((configName) => isTaken({ configName })),
    [true, true],
  );
  for (const configName of ["", ".a", "a/b", "a b", `${most}x`])
    assert.equal(isTaken({ configName }), false, configName);
  assert.equal(isTaken({ cmdline: "console=ttyS0 quiet" }), true);
  assert.equal(isTaken({ cmdline: "quiet\ninitrd=x" }), false);
});

test("a machine's settings win over those of all where they say something; address and name are its own alone", () => {
  const all = { address: "10.0.0.1", hostname: "all", gateway: "10.0.0.254", ntpserver: "ntp", lvmEnabled: true };
  assert.deepEqual(inherited({}, all), { gateway: "10.0.0.254", ntpserver: "ntp", lvmEnabled: true });
  assert.deepEqual(inherited({ address: "10.0.0.9", gateway: "", ntpserver: "own", lvmEnabled: false }, all), {
    ...{ address: "10.0.0.9", gateway: "10.0.0.254", ntpserver: "own", lvmEnabled: false },
  });
});

/** What is said of a file of deployments. */
function refusal(text: string): Fault {
  try {
    checkedDocument(Deployments, readDocument(text, "deployments.yaml"), "deployments.yaml");
  } catch (error) {
    assert.ok(isFault(error, "Invalid"), String(error));
    return error;
  }
  throw new Error("it was taken");
}

test("each wrong field of a file is named by its line and path, and without its value", () => {
  const fault = refusal(
    [
      "globalConfig: {passwort: geheim}",
      "deployments:",
      "- {mac: 52:54:00:00:00:01, bootConfigName: a}",
      "- mac: geheim",
      "  bootConfigName: ''",
    ].join("\n"),
  );
  const told = fault.message;
  assert.match(told, /line 1, globalConfig\.passwort: there is no such field/);
  assert.match(told, /line 4, deployments\[1\]\.mac: must be a MAC address/);
  assert.match(told, /line 5, deployments\[1\]\.bootConfigName: the name of a boot configuration is needed/);
  assert.ok(!told.includes("geheim"));
});

test("a file that is no document is named with its line; an empty one says nothing", () => {
  assert.match(refusal("a: 1\nb: [").message, /neither YAML nor JSON, line \d/);
  assert.match(refusal("a: 1\n---\nb: 1\n").message, /more than one YAML document/);
  const empty = checkedDocument(Deployments, readDocument("", "f"), "f");
  assert.deepEqual(empty, { globalConfig: {}, deployments: [] });
  assert.throws(() => readDocument("x".repeat(4 * 2 ** 20 + 1), "f"), { code: "TooLarge" });
});

test("of many problems the first twenty are shown, and the others are counted", () => {
  const problems = Array.from({ length: 22 }, (_, i) => ({ path: ["a", i], message: "wrong" }));
  const told = (count: number) => refused(problems.slice(0, count), { lineOf: () => 7 }, "f").message;
  assert.match(told(22), /line 7, a\[19\]: wrong; 2 more$/);
  assert.match(told(20), /line 7, a\[19\]: wrong$/);
});
