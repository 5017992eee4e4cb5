import { compareQuantities, parseQuantity } from "@slipway/base";
import { dnsLabel, portName } from "@slipway/cel/formats";
import type { Pace, Passes } from "../json/turns.ts";
import { duplicate, forbidden, invalid, notFound, required } from "../model/field-error.ts";
import { at, membersAt, objectsAt, textAt } from "../model/read.ts";
import type { FieldError } from "../model/served.ts";
import { validateLabelKey } from "../rules/name-rules.ts";
import { nonNegative, oneOfField, requiredName, validatePort, validatePortOrName } from "../rules/value-rules.ts";

type Container = Record<string, unknown>;

const PROTOCOLS = ["SCTP", "TCP", "UDP"];

/** What is wrong with one container of any sort. `volumes`: the Pod's, by name. `pace`: of the walk over the Pod. */
export function* validateContainer(
  container: Container,
  path: string,
  volumes: ReadonlySet<unknown>,
  pace: Pace,
): Passes<FieldError[]> {
  const resourceErrors = yield* validateResources(membersAt(container, "resources"), `${path}.resources`, pace);
  return [
    ...requiredName(container.name, `${path}.name`, dnsLabel),
    ...validateImage(textAt(container, "image"), `${path}.image`),
    ...oneOfField(container.terminationMessagePolicy, `${path}.terminationMessagePolicy`, [
      "File",
      "FallbackToLogsOnError",
    ]),
    ...validatePorts(objectsAt(container, "ports"), `${path}.ports`),
    ...validateEnv(objectsAt(container, "env"), `${path}.env`),
    ...validateEnvFrom(objectsAt(container, "envFrom"), `${path}.envFrom`),
    ...validateMounts(objectsAt(container, "volumeMounts"), `${path}.volumeMounts`, volumes),
    ...oneOfField(container.imagePullPolicy, `${path}.imagePullPolicy`, ["Always", "IfNotPresent", "Never"]),
    ...resourceErrors,
    ...validateSecurity(membersAt(container, "securityContext"), `${path}.securityContext`),
  ];
}

/** Handlers and probes, which ordinary containers may have. */
export function validateLifecycle(container: Container, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const hook of ["postStart", "preStop"]) {
    const handler = at(container, `lifecycle.${hook}`);
    if (isSet(handler)) errors.push(...validateHandler(handler, `${path}.lifecycle.${hook}`));
  }
  for (const name of ["livenessProbe", "readinessProbe", "startupProbe"]) {
    const probe = container[name];
    if (!isSet(probe)) continue;
    errors.push(...validateHandler(probe, `${path}.${name}`));
    const numbers = ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"];
    errors.push(...nonNegative(probe, `${path}.${name}`, numbers));
    if (name !== "readinessProbe" && at(probe, "successThreshold") !== 1)
      errors.push(invalid(`${path}.${name}.successThreshold`, at(probe, "successThreshold"), "must be 1"));
  }
  return errors;
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Templates may hold a blank, which older controllers used as a sign; Pods may not. */
function validateImage(image: string, field: string): FieldError[] {
  if (image === "") return [required(field)];
  const isPod = !field.includes("template");
  const padded = isPod && image !== image.trim();
  return padded ? [invalid(field, image, "must not have leading or trailing whitespace")] : [];
}

function validatePorts(ports: readonly Container[], path: string): FieldError[] {
  const names = new Set<unknown>();
  return ports.flatMap((port, i) => {
    const at = `${path}[${i}]`;
    const name = textAt(port, "name");
    const wrong = name === "" ? [] : portName(name).map((rule) => invalid(`${at}.name`, name, rule));
    if (name !== "" && wrong.length === 0 && names.has(name)) wrong.push(duplicate(`${at}.name`, name));
    names.add(name);
    return [
      ...wrong,
      ...(port.containerPort === 0
        ? [required(`${at}.containerPort`)]
        : validatePort(port.containerPort, `${at}.containerPort`)),
      ...(port.hostPort === 0 ? [] : validatePort(port.hostPort, `${at}.hostPort`)),
      ...oneOfField(port.protocol, `${at}.protocol`, PROTOCOLS),
    ];
  });
}

/** Where an environment variable's value may come from, and the fields that a source must name. */
const SOURCES: readonly (readonly [name: string, required: readonly string[]])[] = [
  ["fieldRef", ["fieldPath"]],
  ["resourceFieldRef", ["resource"]],
  ["configMapKeyRef", ["key"]],
  ["secretKeyRef", ["key"]],
  ["fileKeyRef", ["volumeName", "path", "key"]],
];
const FIELD_PATHS =
  /^(metadata\.(name|namespace|uid|labels\['.*'\]|annotations\['.*'\])|spec\.(nodeName|serviceAccountName)|status\.(hostIPs?|podIPs?))$/;

function validateEnv(variables: readonly Container[], path: string): FieldError[] {
  return variables.flatMap((variable, i) => {
    const field = `${path}[${i}].valueFrom`;
    const errors = textAt(variable, "name") === "" ? [required(`${path}[${i}].name`)] : [];
    if (!isSet(variable.valueFrom)) return errors;
    const given = SOURCES.filter(([name]) => isSet(at(variable, `valueFrom.${name}`)));
    for (const [name, keys] of given) {
      for (const key of keys)
        if (textAt(variable, `valueFrom.${name}.${key}`) === "") errors.push(required(`${field}.${name}.${key}`));
      const fieldPath = textAt(variable, "valueFrom.fieldRef.fieldPath");
      if (name === "fieldRef" && fieldPath !== "" && !FIELD_PATHS.test(fieldPath))
        errors.push(
          invalid(
            `${field}.fieldRef.fieldPath`,
            fieldPath,
            `error converting fieldPath: field label not supported: ${fieldPath}`,
          ),
        );
    }
    if (given.length === 0) {
      const rule =
        "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`";
      return [...errors, invalid(field, "", rule)];
    }
    if (textAt(variable, "value") !== "")
      return [...errors, invalid(field, "", "may not be specified when `value` is not empty")];
    if (given.length === 1) return errors;
    return [...errors, invalid(field, "", "may not have more than one field specified at a time")];
  });
}

function validateEnvFrom(sources: readonly Container[], path: string): FieldError[] {
  return sources.flatMap((source, i) => {
    const given = ["configMapRef", "secretRef"].filter((name) => isSet(source[name]));
    const errors = given
      .filter((name) => textAt(source, `${name}.name`) === "")
      .map((name) => required(`${path}[${i}].${name}.name`));
    if (given.length === 1) return errors;
    const rule =
      given.length === 0
        ? "must specify one of: `configMapRef` or `secretRef`"
        : "may not have more than one field specified at a time";
    return [...errors, invalid(path, "", rule)];
  });
}

function validateMounts(mounts: readonly Container[], path: string, volumes: ReadonlySet<unknown>): FieldError[] {
  const points = new Set<unknown>();
  return mounts.flatMap((mount, i) => {
    const at = `${path}[${i}]`;
    const errors: FieldError[] = [];
    if (textAt(mount, "name") === "") errors.push(required(`${at}.name`));
    if (!volumes.has(mount.name)) errors.push(notFound(`${at}.name`, mount.name));
    if (textAt(mount, "mountPath") === "") errors.push(required(`${at}.mountPath`));
    if (points.has(mount.mountPath)) errors.push(invalid(`${at}.mountPath`, mount.mountPath, "must be unique"));
    points.add(mount.mountPath);
    return errors;
  });
}

const STANDARD_RESOURCES: ReadonlySet<string> = new Set(["cpu", "memory", "ephemeral-storage"]);

/** Names and amounts of resources; what is asked for may not exceed its limit. */
function* validateResources(resources: Container, path: string, pace: Pace): Passes<FieldError[]> {
  const limits = membersAt(resources, "limits");
  const errors: FieldError[] = [];
  for (const kind of ["limits", "requests"]) {
    const amounts = membersAt(resources, kind);
    for (const name of Object.keys(amounts)) {
      if (pace.isOver()) yield;
      const amount = amounts[name];
      const field = `${path}.${kind}[${name}]`;
      errors.push(...validateResourceName(name, field), ...validateAmount(amount, field));
      const limit = limits[name];
      if (kind === "requests" && limit !== undefined && isMore(amount, limit))
        errors.push(
          invalid(`${path}.requests`, amount, `must be less than or equal to ${name} limit of ${String(limit)}`),
        );
    }
  }
  return errors;
}

function validateResourceName(name: string, field: string): FieldError[] {
  const errors = validateLabelKey(name, field);
  if (name.includes("/") || STANDARD_RESOURCES.has(name) || name.startsWith("hugepages-")) return errors;
  return [...errors, invalid(field, name, "must be a standard resource for containers")];
}

/** An amount of a resource: a quantity that is not negative. */
export function validateAmount(amount: unknown, field: string): FieldError[] {
  // The decoder has taken it for a quantity: only a sign makes it less than nothing.
  if (typeof amount !== "string" || !amount.startsWith("-") || parseQuantity(amount).nano >= 0n) return [];
  return [invalid(field, amount, "must be greater than or equal to 0")];
}

function isMore(amount: unknown, limit: unknown): boolean {
  if (typeof amount !== "string" || typeof limit !== "string" || amount === limit) return false;
  return compareQuantities(parseQuantity(amount), parseQuantity(limit)) > 0;
}

function validateSecurity(context: Container, path: string): FieldError[] {
  const errors = ["runAsUser", "runAsGroup"].flatMap((name) => {
    const id = context[name];
    if (typeof id !== "number" || (id >= 0 && id < 2 ** 31)) return [];
    return [invalid(`${path}.${name}`, id, "must be between 0 and 2147483647, inclusive")];
  });
  if (context.privileged !== true || context.allowPrivilegeEscalation !== false) return errors;
  // Upstream shows the internal type, whose names begin in capitals.
  const shown = SECURITY_FIELDS.map((name) => [name[0]!.toUpperCase() + name.slice(1), context[name] ?? null]);
  const rule = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
  return [...errors, invalid(path, Object.fromEntries(shown), rule)];
}

const SECURITY_FIELDS = [
  "capabilities",
  "privileged",
  "SELinuxOptions",
  "windowsOptions",
  "runAsUser",
  "runAsGroup",
  "runAsNonRoot",
  "readOnlyRootFilesystem",
  "allowPrivilegeEscalation",
  "procMount",
  "seccompProfile",
  "appArmorProfile",
];

const HANDLERS = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"];

/** Exactly one way of acting. */
function validateHandler(handler: unknown, path: string): FieldError[] {
  const [first, ...more] = HANDLERS.filter((name) => isSet(at(handler, name)));
  if (first === undefined) return [required(path, "must specify a handler type")];
  const field = `${path}.${first}`;
  const errors: FieldError[] = [];
  if (first === "exec" && !Array.isArray(at(handler, "exec.command"))) errors.push(required(`${field}.command`));
  if (first === "httpGet") {
    errors.push(...validatePortOrName(at(handler, "httpGet.port"), `${field}.port`));
    errors.push(...oneOfField(at(handler, "httpGet.scheme"), `${field}.scheme`, ["HTTP", "HTTPS"]));
  }
  if (first === "tcpSocket" || first === "grpc")
    errors.push(...validatePortOrName(at(handler, `${first}.port`), `${field}.port`));
  return [...errors, ...more.map((name) => forbidden(`${path}.${name}`, "may not specify more than 1 handler type"))];
}
