import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import { readDocument } from "../files/document.ts";
import { refuseLocalCommands, tasksOf } from "./action.ts";

/** A map of one deployment, one action a line; the action named `a` is a command that says who it is, unless `fields` say otherwise. */
const mapOf = (fields: object, deployment: object = {}) => {
  const actions = [{ name: "a", type: "command", command: "id", ...fields }];
  return JSON.stringify({ deployments: [{ name: "d", hosts: ["h1"], actions, ...deployment }] }, null, 1);
};
const read = (fields: object, deployment: object = {}) =>
  tasksOf(readDocument(mapOf(fields, deployment), "map"), "map");
const refusal = (fields: object, deployment: object = {}): string => {
  try {
    read(fields, deployment);
  } catch (error) {
    if (isFault(error, "Invalid")) return error.message;
    throw error;
  }
  return assert.fail(`nothing is refused of ${mapOf(fields, deployment)}`);
};

test("N31 each thing that is wrong with a map is refused, be it the only one, by its path", () => {
  const none = { command: undefined };
  for (const [said, fields, deployment] of [
    [/actions\[0\]\.type: is none of upload, download, command, pkg, key;/, { type: "shell" }],
    [/actions\[0\]\.command: one of command, commands and keyName is needed/, none],
    [/actions\[0\]\.commands: one of command, commands and keyName is needed/, { commands: ["id"] }],
    [/actions\[0\]\.packages: has no effect with command/, { packages: "vim" }],
    [/actions\[0\]\.source: upload needs it/, { ...none, type: "upload", destination: "/x" }],
    [/actions\[0\]\.destination: download needs it/, { ...none, type: "download", source: "/x" }],
    [/actions\[0\]\.keyName: key needs it/, { ...none, type: "key" }],
    [/actions\[0\]\.commandPipeCmd: commandPipeFile is given, too/, { commandPipeCmd: "id", commandPipeFile: "f" }],
    [/actions\[0\]\.plugin: plugins are not loaded/, { plugin: { a: 1 } }],
    [/deployments\[0\]\.parallelSessions: has no effect without parallel: true/, {}, { parallelSessions: 1 }],
    [/deployments\[0\]\.hosts\[2\]: is named twice/, {}, { hosts: ["h1", "h2", "h1"] }],
  ] as const)
    assert.match(refusal(fields, deployment), said);
  assert.match(refusal({ packages: "vim" }), /^map: line \d+, /);
});

test("N31 a package is installed or removed by the manager that is named, without questions; what none knows is refused", () => {
  const pkg = { command: undefined, type: "pkg", packageManager: "apt", packageOperation: "install", packages: "a, b" };
  const textOf = (more: object) => {
    const action = read({ ...pkg, ...more })[0]!.actions[0]!;
    return action.do === "command" && action.command.is === "text" ? action.command.text : undefined;
  };
  assert.equal(textOf({}), "DEBIAN_FRONTEND=noninteractive apt-get -q -y install -- 'a' 'b'");
  assert.equal(textOf({ packageManager: "dnf", packageOperation: "remove" }), "dnf -q -y remove -- 'a' 'b'");
  for (const [said, fields] of [
    [/packageManager: must be one of apt, yum, dnf$/, { packageManager: "brew" }],
    [/packageOperation: must be one of install, remove$/, { packageOperation: "upgrade" }],
    [/packages: pkg needs the name of a package$/, { packages: " , " }],
    [/packages: must be names of packages, with blanks or commas between them$/, { packages: "a;id" }],
  ] as const)
    assert.match(refusal({ ...pkg, ...fields }), said);
});

test("N31 what a map leaves out is as usual: half an hour, one machine at a time, sixteen in parallel", () => {
  const [task] = read({});
  const action = { name: "a", ignoreFail: false, timeoutMs: 1_800_000, do: "command", isLocal: false };
  assert.deepEqual(task, {
    ...{ name: "d", hosts: ["h1"], sessions: 1 },
    actions: [{ ...action, command: { is: "text", text: "id" } }],
  });
  assert.equal(read({}, { parallel: true })[0]!.sessions, 16);
  assert.equal(read({}, { parallel: true, parallelSessions: 3 })[0]!.sessions, 3);
  assert.equal(read({ timeout: 5 })[0]!.actions[0]!.timeoutMs, 5_000);
});

test("N31 several commands are one script that ends with the first failure; input, output and user go with it", () => {
  const { actions } = read({
    ...{ command: undefined, commands: ["a", "b"], commandSudo: "root", commandPipeCmd: "c" },
    ...{ commandSaveFile: "f", commandSaveAsKey: "k" },
  })[0]!;
  assert.deepEqual(actions, [
    {
      ...{ name: "a", ignoreFail: false, timeoutMs: 1_800_000, do: "command", isLocal: false },
      ...{ command: { is: "text", text: "set -e\na\nb" }, sudo: "root", input: { is: "output", command: "c" } },
      ...{ saveFile: "f", saveAsKey: "k" },
    },
  ]);
});

test("N31 every field that an action of its type has is kept, and one of another type is refused", () => {
  const common = { name: "a", ignoreFail: true, timeoutMs: 1_800_000 };
  const of = (fields: object) => read({ command: undefined, ignoreFail: true, ...fields })[0]!.actions[0];
  for (const type of ["upload", "download"]) {
    const files = { source: "/a", destination: "/b" };
    assert.deepEqual(of({ type, ...files }), { ...common, do: type, ...files });
    assert.deepEqual(of({ type, ...files, commandSudo: "root" }), { ...common, do: type, ...files, sudo: "root" });
    assert.match(refusal({ type, ...files }), new RegExp(`command: has no effect with ${type}`));
  }
  assert.deepEqual(of({ type: "key", keyName: "k", keyFile: "/k" }), { ...common, do: "key", key: "k", file: "/k" });
  assert.deepEqual(of({ type: "key", keyName: "k" }), { ...common, do: "key", key: "k" });
  const command = { ...common, do: "command", isLocal: false };
  const pkg = { type: "pkg", packageManager: "yum", packageOperation: "remove", packages: "vim", commandSudo: "root" };
  const text = "yum -q -y remove -- 'vim'";
  assert.deepEqual(of(pkg), { ...command, command: { is: "text", text }, sudo: "root" });
  const saved = { keyName: "k", commandLocal: true, commandPipeFile: "/f" };
  assert.deepEqual(of(saved), {
    ...{ ...command, isLocal: true, command: { is: "saved", key: "k" }, input: { is: "file", path: "/f" } },
  });
  assert.match(refusal({ keyFile: "/k" }), /keyFile: has no effect with command/);
  assert.match(refusal({ fileMove: "x" }), /fileMove: its meaning is not known/);
});

test("N31 a command has no NUL, whichever of several it is", () => {
  assert.match(refusal({ command: "a\0" }), /actions\[0\]\.command: must have no NUL/);
  assert.match(refusal({ command: undefined, commands: ["a", "b\0"] }), /commands\[1\]: must have no NUL/);
});

test("over the network no command of the machine that serves the API is run", () => {
  for (const fields of [{ commandLocal: true }, { commandPipeCmd: "id" }])
    assert.throws(() => refuseLocalCommands(read(fields)), { code: "Forbidden", on: "a" });
  refuseLocalCommands(read({ commandPipeFile: "f" }));
});
