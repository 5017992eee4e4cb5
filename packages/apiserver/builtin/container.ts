import type { Schema } from "../served.ts";
import {
  about,
  anyObject,
  atomic,
  bool,
  fields,
  int32,
  int64,
  intOrString,
  keyed,
  keyedForApply,
  listOf,
  oneOf,
  quantities,
  quantity,
  text,
  texts,
  withDefault,
} from "./schema-words.ts";

const header = fields({ "name!": text, "value!": text });

const httpGet = fields({
  path: withDefault(text, "/"),
  "port!": intOrString,
  host: text,
  scheme: withDefault(text, "HTTP"),
  httpHeaders: listOf(header),
});

const handler = {
  exec: fields({ command: texts }),
  httpGet,
  tcpSocket: fields({ "port!": intOrString, host: text }),
};

const lifecycleHandler = fields({ ...handler, sleep: fields({ "seconds!": int64 }) });

const probe = fields({
  ...handler,
  grpc: fields({ "port!": int32, service: withDefault(text, "") }),
  initialDelaySeconds: int32,
  timeoutSeconds: withDefault(int32, 1),
  periodSeconds: withDefault(int32, 10),
  successThreshold: withDefault(int32, 1),
  failureThreshold: withDefault(int32, 3),
  terminationGracePeriodSeconds: int64,
});

const keySelector = atomic({ "key!": text, name: withDefault(text, ""), optional: bool });

export const fieldSelector: Schema = atomic({ apiVersion: withDefault(text, "v1"), "fieldPath!": text });
export const resourceFieldSelector: Schema = atomic({ containerName: text, "resource!": text, divisor: quantity });

const envVar = fields({
  "name!": text,
  value: text,
  valueFrom: fields({
    fieldRef: fieldSelector,
    resourceFieldRef: resourceFieldSelector,
    configMapKeyRef: keySelector,
    secretKeyRef: keySelector,
    fileKeyRef: atomic({ "volumeName!": text, "path!": text, "key!": text, optional: bool }),
  }),
});

const source = fields({ name: withDefault(text, ""), optional: bool });

const envFrom = fields({ prefix: text, configMapRef: source, secretRef: source });

export const resourceRequirements: Schema = about(
  "Compute resources that are asked for (requests) and not to be exceeded (limits).",
  fields({
    limits: quantities,
    requests: quantities,
    claims: keyedForApply(fields({ "name!": text, request: text }), "name"),
  }),
);

const volumeMount = fields({
  "name!": text,
  "mountPath!": text,
  readOnly: bool,
  recursiveReadOnly: text,
  subPath: text,
  subPathExpr: text,
  mountPropagation: text,
});

export const seLinuxOptions: Schema = fields({ user: text, role: text, type: text, level: text });
export const seccompProfile: Schema = fields({ "type!": text, localhostProfile: text });
export const windowsOptions: Schema = fields({
  gmsaCredentialSpecName: text,
  gmsaCredentialSpec: text,
  runAsUserName: text,
  hostProcess: bool,
});

const securityContext = fields({
  capabilities: fields({ add: texts, drop: texts }),
  privileged: bool,
  seLinuxOptions,
  windowsOptions,
  runAsUser: int64,
  runAsGroup: int64,
  runAsNonRoot: bool,
  readOnlyRootFilesystem: bool,
  allowPrivilegeEscalation: bool,
  procMount: text,
  seccompProfile,
  appArmorProfile: seccompProfile,
});

const port = fields({
  name: text,
  hostPort: int32,
  "containerPort!": int32,
  protocol: withDefault(oneOf("TCP", "UDP", "SCTP"), "TCP"),
  hostIP: text,
});

const members: Readonly<Record<string, Schema>> = {
  "name!": about("Unique among the Pod's containers.", text),
  image: about("Image to run.", text),
  command: about("Entrypoint; the image's own when absent.", texts),
  args: about("Arguments of the entrypoint; the image's own when absent.", texts),
  workingDir: text,
  ports: about("Ports that the container listens on.", keyed(port, "containerPort", "protocol")),
  envFrom: about("Sources whose keys all become environment variables.", listOf(envFrom)),
  env: about("Environment variables.", keyed(envVar, "name")),
  resources: withDefault(resourceRequirements, {}),
  resizePolicy: listOf(fields({ "resourceName!": text, "restartPolicy!": text })),
  restartPolicy: text,
  restartPolicyRules: listOf(anyObject),
  volumeMounts: about("Volumes of the Pod that the container sees.", keyed(volumeMount, "mountPath")),
  volumeDevices: keyed(fields({ "name!": text, "devicePath!": text }), "devicePath"),
  livenessProbe: about("Restarts the container when it fails.", probe),
  readinessProbe: about("Takes the Pod out of its Services when it fails.", probe),
  startupProbe: about("Holds the other probes back until it succeeds.", probe),
  lifecycle: fields({ postStart: lifecycleHandler, preStop: lifecycleHandler, stopSignal: text }),
  terminationMessagePath: withDefault(text, "/dev/termination-log"),
  terminationMessagePolicy: withDefault(oneOf("File", "FallbackToLogsOnError"), "File"),
  imagePullPolicy: about(
    "When to pull the image; Always for the tag latest, else IfNotPresent.",
    oneOf("Always", "IfNotPresent", "Never"),
  ),
  securityContext: about("What the container may do.", securityContext),
  stdin: bool,
  stdinOnce: bool,
  tty: bool,
};

/** `v1.Container`. */
export const container: Schema = fields(members);

/** `v1.EphemeralContainer`. */
export const ephemeralContainer: Schema = fields({ ...members, targetContainerName: text });
