/** What names may look like, each as the list of what is wrong with one, in apimachinery's words. */

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const QUALIFIED = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

const SUBDOMAIN_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_RULE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const QUALIFIED_RULE =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

export type NameRule = (name: string) => string[];

/** RFC 1123 label: names of containers, volumes, namespaces. */
export const dnsLabel: NameRule = (name) => [
  ...(name.length > 63 ? ["must be no more than 63 characters"] : []),
  ...(LABEL.test(name) ? [] : [SUBDOMAIN.test(name) ? "must not contain dots" : LABEL_RULE]),
];

/** RFC 1123 subdomain: the names of most kinds. */
export const dnsSubdomain: NameRule = (name) => [
  ...(name.length > 253 ? ["must be no more than 253 characters"] : []),
  ...(SUBDOMAIN.test(name) ? [] : [SUBDOMAIN_RULE]),
];

/** A segment of a path: the names of roles. */
export const pathSegment: NameRule = (name) => {
  if (name === "." || name === "..") return [`may not be '${name}'`];
  return ["/", "%"].filter((char) => name.includes(char)).map((char) => `may not contain '${char}'`);
};

/** A label's key, a finalizer: an optional DNS prefix and a name of at most 63 characters. */
export const qualifiedName: NameRule = (key) => {
  const parts = key.split("/");
  if (parts.length > 2)
    return [
      `a valid label key ${QUALIFIED_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  const name = parts.at(-1)!;
  const prefix = parts.length === 2 ? parts[0]! : undefined;
  const wrong: string[] = [];
  if (prefix === "") wrong.push("prefix part must be non-empty");
  else if (prefix !== undefined) wrong.push(...dnsSubdomain(prefix).map((rule) => `prefix part ${rule}`));
  if (name === "") wrong.push("name part must be non-empty");
  else if (name.length > 63) wrong.push("name part must be no more than 63 bytes");
  if (!QUALIFIED.test(name)) wrong.push(`name part ${QUALIFIED_RULE}`);
  return wrong;
};

/** A label's value: empty, or at most 63 bytes that begin and end with a letter or digit. */
export const labelValue: NameRule = (value) => [
  ...(value.length > 63 ? ["must be no more than 63 bytes"] : []),
  ...(value === "" || QUALIFIED.test(value) ? [] : [VALUE_RULE]),
];

/** A port by name. */
export const portName: NameRule = (name) => [
  ...(name.length > 15 ? ["must be no more than 15 characters"] : []),
  ...(/^[-a-z0-9]+$/.test(name) ? [] : ["must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"]),
  ...(/[a-z]/.test(name) ? [] : ["must contain at least one letter (a-z)"]),
  ...(name.includes("--") ? ["must not contain consecutive hyphens"] : []),
  ...(name.startsWith("-") || name.endsWith("-") ? ["must not begin or end with a hyphen"] : []),
];
