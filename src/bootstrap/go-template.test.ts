import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import fc from "fast-check";
import { renderGoTemplate } from "./go-template.ts";

const NAMES = {
  values: { kubernetesVersion: "v1.27.0", controlPlaneEndpoint: "" },
  refused: { apiKey: "keys of the provider stay in the management cluster" },
};
const render = (text: string): string => renderGoTemplate(text, NAMES, "bootstrap data");

const taken: [name: string, text: string, out: string][] = [
  ["a name", "VERSION={{ .kubernetesVersion }}", "VERSION=v1.27.0"],
  ["a name without spaces", "{{.kubernetesVersion}}", "v1.27.0"],
  [
    "cloud-init's name in back quotes",
    "equinixmetal://{{ `{{ v1.instance_id }}` }}",
    "equinixmetal://{{ v1.instance_id }}",
  ],
  ["cloud-init's name as it stands", "id={{ v1.instance_id }}", "id={{ v1.instance_id }}"],
  ["fields of a shell script's own template", "docker ps --format '{{.Names}}'", "docker ps --format '{{.Names}}'"],
  ["Jinja's statements", "{% if x %}{{ ds.meta_data.a }}{% endif %}", "{% if x %}{{ ds.meta_data.a }}{% endif %}"],
  ["text in quotes", '{{ "a\\tb" }}', "a\tb"],
  ["a comment", "a{{/* b }} c */}}d", "ad"],
  ["trim markers", "a \n {{- .kubernetesVersion -}} \n b", "av1.27.0b"],
  ["if that holds", "{{ if .kubernetesVersion }}yes{{ else }}no{{ end }}", "yes"],
  ["if of an empty value", "{{ if .controlPlaneEndpoint }}yes{{ else }}no{{ end }}", "no"],
  ["if not", "{{ if not .controlPlaneEndpoint }}none{{ end }}", "none"],
  ["else if", "{{ if .controlPlaneEndpoint }}a{{ else if .kubernetesVersion }}b{{ else }}c{{ end }}", "b"],
  [
    "ifs in each other",
    "{{ if .kubernetesVersion }}1{{ if .controlPlaneEndpoint }}2{{ end }}3{{ else }}4{{ end }}5",
    "135",
  ],
];
for (const [name, text, out] of taken) test(`B42 ${name}`, () => assert.equal(render(text), out));

const refused: [name: string, text: string, message: RegExp][] = [
  ["an unknown name", "a\n{{ .missing }}", /line 2: there is no name \.missing, but \.kubernetesVersion/],
  ["an unknown name in an if", "{{ if .missing }}{{ end }}", /line 1: there is no name \.missing/],
  ["B38 the provider's key", "{{ .apiKey }}", /\.apiKey is not given: keys of the provider stay/],
  ["an if without an end", "{{ if .kubernetesVersion }}", /line 1: the if has no end/],
  ["an end without an if", "{{ end }}", /end without if/],
  ["a second else", "{{ if .kubernetesVersion }}{{ else }}{{ else }}{{ end }}", /a second else/],
  ["range", "{{ range .kubernetesVersion }}{{ end }}", /range is not taken/],
];
for (const [name, text, message] of refused)
  test(`B42 refused: ${name}`, () => {
    assert.throws(
      () => render(text),
      (error) => isFault(error, "Invalid") && message.test(error.message),
    );
  });

test("B42 text without an action stays as it is, whatever it is", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      fc.pre(!text.includes("{{"));
      assert.equal(render(text), text);
    }),
  );
});
