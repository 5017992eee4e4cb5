/** Kubernetes' `format.<name>().validate(text)`: an optional list of what is wrong, none when nothing is. */

import type { Functions } from "../functions.ts";
import { goQuoted } from "../go-text.ts";
import { dnsLabel, dnsSubdomain, labelValue, qualifiedName } from "../object-names.ts";
import { formatCheck } from "../string-formats.ts";
import type { Type } from "../types.ts";
import { Custom, Optional } from "../values.ts";
import { checkRequestUri } from "./go-url.ts";

const TYPE = { kind: "object", name: "kubernetes.NamedFormat", of: [] } as const satisfies Type;

/** What is wrong with a text; nothing when nothing is. */
type Check = (text: string) => readonly string[];

class Format extends Custom {
  readonly type = TYPE;
  readonly name: string;
  readonly check: Check;
  constructor(name: string, check: Check) {
    super();
    this.name = name;
    this.check = check;
  }
  equals(other: Format): boolean {
    return this.name === other.name;
  }
}

const LABEL_1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const LABEL_1035_RULE =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

const label1035: Check = (text) => [
  ...(text.length > 63 ? ["must be no more than 63 characters"] : []),
  ...(LABEL_1035.test(text) ? [] : [LABEL_1035_RULE]),
];

/** A name to which something is added: it may end with a dash. */
const prefixOf =
  (check: Check): Check =>
  (text) =>
    check(text.replace(/-$/, "a"));

function known(format: string, message: string): Check {
  const check = formatCheck(format) ?? (() => true);
  return (text) => (check(text) ? [] : [message]);
}

const uri: Check = (text) => {
  try {
    checkRequestUri(text);
    return [];
  } catch (error) {
    return [`parse ${goQuoted(text)}: ${(error as Error).message}`];
  }
};

const FORMATS: Readonly<Record<string, Check>> = {
  dns1123Label: dnsLabel,
  dns1123Subdomain: dnsSubdomain,
  dns1035Label: label1035,
  qualifiedName,
  dns1123LabelPrefix: prefixOf(dnsLabel),
  dns1123SubdomainPrefix: prefixOf(dnsSubdomain),
  dns1035LabelPrefix: prefixOf(label1035),
  labelValue,
  uri,
  uuid: known("uuid", "does not match the UUID format"),
  byte: known("byte", "invalid base64"),
  date: known("date", "invalid date"),
  datetime: known("date-time", "invalid datetime"),
};

/** Adds Kubernetes' `format` library: the named formats and `validate`. */
export function registerFormats(functions: Functions): void {
  functions
    .type(TYPE)
    .add("format.named", "format-named", `(string) -> optional_type(${TYPE.name})`, (name: string) => {
      const check = Object.hasOwn(FORMATS, name) ? FORMATS[name] : undefined;
      return new Optional(check && new Format(name, check));
    })
    .add(
      "validate",
      "format-validate",
      `${TYPE.name}.(string) -> optional_type(list(string))`,
      (format: Format, text: string) => {
        const wrong = format.check(text);
        return wrong.length === 0 ? Optional.none : new Optional(wrong);
      },
    );
  for (const [name, check] of Object.entries(FORMATS))
    functions.add(`format.${name}`, `format.${name}`, `() -> ${TYPE.name}`, () => new Format(name, check));
}
