import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { dump } from "js-yaml";
import { placesOf } from "./yaml-places.ts";

const TEXT = `# first
apiVersion: v1
kind: Pod
metadata:
  name: a
  labels:
    app.kubernetes.io/name: x
spec:
  containers:
    - name: one
      image: i
    - {name: two, image: j}
---
# nothing
---
kind: Secret
`;

test("a field's line is that of its key, an item's that of its beginning; what is not there has the line around it", () => {
  const [pod, secret, ...none] = placesOf(TEXT);
  assert.deepEqual(none, []);
  assert.deepEqual([pod!.line, secret!.line], [2, 16]);
  for (const [path, line] of [
    ["kind", 3],
    ["metadata.name", 5],
    ["metadata.labels[app.kubernetes.io/name]", 7],
    ["spec.containers[0].image", 11],
    ["spec.containers[1].name", 12],
    ["spec.containers[1].command", 12],
    ["spec.volumes", 8],
    ["status", 2],
    ["", 2],
  ] as const)
    assert.equal(pod!.lineOf(path), line, path);
});

test("every field of any document is on the line on which it is written", () => {
  const name = fc.stringMatching(/^[a-z]{1,8}$/);
  fc.assert(
    fc.property(fc.dictionary(name, fc.dictionary(name, fc.string(), { minKeys: 1 }), { minKeys: 1 }), (document) => {
      const text = dump(document, { lineWidth: -1 });
      const lines = text.split("\n");
      const [places] = placesOf(text);
      for (const [outer, inner] of Object.entries(document))
        for (const key of Object.keys(inner)) {
          const line = lines[places!.lineOf(`${outer}.${key}`) - 1]!;
          assert.match(line, new RegExp(`^ +['"]?${key}['"]?:`));
        }
    }),
  );
});
