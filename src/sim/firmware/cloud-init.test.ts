import assert from "node:assert/strict";
import { test } from "node:test";
import { isCloudConfig, seed } from "./cloud-init.ts";

const instance = { id: "i-1", hostname: "w" };

test("cloud-init writes files and lists commands, those of every boot first", () => {
  const text = [
    "#cloud-config",
    "write_files:",
    "- {path: /a, content: one}",
    "- {path: /a, content: two, append: true}",
    "- {path: /b, content: aGk=, encoding: base64}",
    "- {path: /c}",
    "- {path: /new, content: x, append: true}",
    "- {path: /d, encoding: base64}",
    "runcmd: [[echo, hi], ls]",
    "bootcmd: [first]",
  ].join("\n");
  const end = seed(text, instance);
  assert.ok(end.is === "seeded");
  assert.deepEqual(
    [...end.files],
    [
      ["/a", "onetwo"],
      ["/b", "hi"],
      ["/c", ""],
      ["/new", "x"],
      ["/d", ""],
    ],
  );
  assert.deepEqual(end.commands, ["first", "echo hi", "ls"]);
  assert.deepEqual(seed("#cloud-config\n{}", instance), { is: "seeded", files: new Map(), commands: [] });
});

test("a template is filled in with what the provider says, and what it does not say is visible; plain text is left alone", () => {
  const names = [
    "v1.instance_id",
    "ds.meta_data.instance_id",
    "v1.local_hostname",
    "ds.meta_data.hostname",
    "ds.meta_data.local_hostname",
  ];
  const text = `#cloud-config\nruncmd: [${[...names, "other.name"].map((name) => `"{{ ${name} }}"`).join(", ")}]\n`;
  const commands = (userData: string) => {
    const end = seed(userData, instance);
    return end.is === "seeded" ? end.commands : end.message;
  };
  assert.deepEqual(commands(`## template: jinja\n${text}`), [
    "i-1",
    "i-1",
    "w",
    "w",
    "w",
    "CI_MISSING_JINJA_VAR/other.name",
  ]);
  assert.deepEqual(
    commands(text),
    [...names, "other.name"].map((name) => `{{ ${name} }}`),
  );
  assert.equal(isCloudConfig(`## template: jinja\r\n${text}`), true);
  assert.equal(isCloudConfig("#!/bin/sh"), false);
});

test("what cloud-init gives up on is said in its words", () => {
  const said = (text: string): string => {
    const end = seed(text, instance);
    return end.is === "failed" ? end.message : assert.fail(text);
  };
  assert.match(said("a: [b"), /^cloud-init: the user data is no YAML: [^\n]+$/);
  for (const text of ["- a", "text", "null"]) assert.equal(said(text), "cloud-init: the user data is no mapping");
  for (const field of ["write_files", "runcmd", "bootcmd"])
    assert.equal(said(`${field}: text`), "cloud-init: write_files, runcmd and bootcmd must be lists");
  assert.equal(said("write_files: [{content: x}]"), "cloud-init: a file of write_files has no path");
});
