/**
 * The flags with which a plane's components are started, the same for every runtime. One rule of precedence for all of them: what Slipway
 * manages wins; a default gives way to the user's flag of its name; every other flag of the user's stands as it was written, behind ours.
 */
import { tryParseIp } from "@slipway/base";
import type { Plane, PlaneOidc, PlaneStore } from "./plane.ts";

/** Where a component finds a file of the plane: `apiserver.crt`, `etcd/ca.crt`, `scheduler.conf`. */
export type FileOf = (name: string) => string;

/** What a user must not set, and what stands unless the user says otherwise. */
interface OwnFlags {
  managed: Readonly<Record<string, string | undefined>>;
  defaults: Readonly<Record<string, string>>;
}

/** kube-apiserver's. `extra`: of the runtime, such as an egress selector; managed, too. */
export function apiServerFlags(plane: Plane, file: FileOf, extra: Readonly<Record<string, string>> = {}): string[] {
  const { store, extraArgs, kubeletAddressTypes, admissionPlugins } = plane;
  const user = extraArgs.apiServer;
  const ownsUsers = user.some((flag) => /^(oidc-|authentication-config$)/.test(nameOf(flag)));
  const ownsAuthorization = user.some((flag) => nameOf(flag) === "authorization-config");
  return compose(user, {
    managed: {
      "advertise-address": advertisedOf(plane),
      "secure-port": String(plane.port),
      "service-cluster-ip-range": plane.serviceCidrs.join(","),
      "enable-admission-plugins": admissionPlugins.length === 0 ? undefined : admissionPlugins.join(","),
      "kubelet-preferred-address-types": kubeletAddressTypes.join(","),
      "client-ca-file": file("ca.crt"),
      "tls-cert-file": file("apiserver.crt"),
      "tls-private-key-file": file("apiserver.key"),
      "kubelet-client-certificate": file("apiserver-kubelet-client.crt"),
      "kubelet-client-key": file("apiserver-kubelet-client.key"),
      "proxy-client-cert-file": file("front-proxy-client.crt"),
      "proxy-client-key-file": file("front-proxy-client.key"),
      "requestheader-client-ca-file": file("front-proxy-ca.crt"),
      "requestheader-allowed-names": "front-proxy-client",
      "service-account-key-file": file("sa.pub"),
      "service-account-signing-key-file": file("sa.key"),
      ...(store !== undefined && {
        ...(store.endpoints.length > 0 && { "etcd-servers": store.endpoints.join(",") }),
        "etcd-prefix": store.prefix,
        "etcd-servers-overrides": overridesOf(store),
        // The key by which API servers share this work lies outside the tenant's prefix: etcd compacts itself, and so does kine.
        "etcd-compaction-interval": "0",
      }),
      ...(store?.tls !== undefined &&
        store.kine === undefined && {
          "etcd-cafile": file("etcd/ca.crt"),
          "etcd-certfile": file("etcd/server.crt"),
          "etcd-keyfile": file("etcd/server.key"),
        }),
      ...extra,
    },
    defaults: {
      "allow-privileged": "true",
      "enable-bootstrap-token-auth": "true",
      "requestheader-extra-headers-prefix": "X-Remote-Extra-",
      "requestheader-group-headers": "X-Remote-Group",
      "requestheader-username-headers": "X-Remote-User",
      "service-account-issuer": `https://kubernetes.default.svc.${plane.clusterDomain}`,
      ...(plane.oidc !== undefined && !ownsUsers && oidcFlags(plane.oidc, file)),
      ...(!ownsAuthorization && { "authorization-mode": "Node,RBAC" }),
    },
  });
}

/** Who gives flags of this kind of his own has the provider in none of them: API servers know one. */
function oidcFlags({ issuer, clientID }: PlaneOidc, file: FileOf): Record<string, string> {
  return {
    "oidc-issuer-url": issuer,
    "oidc-client-id": clientID,
    "oidc-username-claim": "email",
    "oidc-groups-claim": "groups",
    "oidc-ca-file": file("oidc/ca.crt"),
  };
}

/** kube-apiserver's way to write them: `/events#https://a;https://b,apps/deployments#https://c`. */
function overridesOf({ overrides = [] }: PlaneStore): string | undefined {
  if (overrides.length === 0) return undefined;
  return overrides.map(({ resource, endpoints }) => `${resource}#${endpoints.join(";")}`).join(",");
}

/** What Service `kubernetes` in the tenant leads to: an address. Of a name of a load balancer's there is none to be said. */
function advertisedOf({ advertiseAddress, host }: Plane): string | undefined {
  if (advertiseAddress) return advertiseAddress;
  return tryParseIp(host) === undefined ? undefined : host;
}

/** kube-controller-manager's. `securePort`: of its health and metrics. */
export function controllerManagerFlags(plane: Plane, file: FileOf, securePort = 10_257): string[] {
  const kubeconfig = file("controller-manager.conf");
  return compose(plane.extraArgs.controllerManager, {
    managed: {
      kubeconfig,
      "authentication-kubeconfig": kubeconfig,
      "authorization-kubeconfig": kubeconfig,
      "client-ca-file": file("ca.crt"),
      "cluster-name": plane.name.split("/").at(-1),
      "cluster-cidr": plane.podCidrs.join(","),
      "service-cluster-ip-range": plane.serviceCidrs.join(","),
      "cluster-signing-cert-file": file("ca.crt"),
      "cluster-signing-key-file": file("ca.key"),
      "root-ca-file": file("ca.crt"),
      "requestheader-client-ca-file": file("front-proxy-ca.crt"),
      "service-account-private-key-file": file("sa.key"),
      "secure-port": String(securePort),
    },
    defaults: {
      "allocate-node-cidrs": "true",
      controllers: "*,bootstrapsigner,tokencleaner",
      "leader-elect": "true",
      "use-service-account-credentials": "true",
      "bind-address": "0.0.0.0",
    },
  });
}

/** kube-scheduler's. `securePort`: of its health and metrics. */
export function schedulerFlags(plane: Plane, file: FileOf, securePort = 10_259): string[] {
  const kubeconfig = file("scheduler.conf");
  return compose(plane.extraArgs.scheduler, {
    managed: {
      kubeconfig,
      "authentication-kubeconfig": kubeconfig,
      "authorization-kubeconfig": kubeconfig,
      "secure-port": String(securePort),
    },
    defaults: { "leader-elect": "true", "bind-address": "0.0.0.0" },
  });
}

/**
 * kine's. `listen`: where kube-apiserver reaches it, such as `unix:///run/kine.sock`. Where it goes to is not among them: that is
 * `KINE_ENDPOINT` of its environment, and holds the password.
 */
export function kineFlags({ store }: Plane, file: FileOf, listen: string): string[] {
  const { tls, kine } = store ?? {};
  return compose(kine?.extraArgs ?? [], {
    managed: {
      endpoint: undefined,
      "listen-address": listen,
      "metrics-bind-address": "0",
      "ca-file": (tls?.ca ?? kine?.ca) === undefined ? undefined : file("etcd/ca.crt"),
      "cert-file": tls === undefined ? undefined : file("etcd/server.crt"),
      "key-file": tls === undefined ? undefined : file("etcd/server.key"),
      // Whoever could set these would take TLS away, from the database or from the listener that kube-apiserver expects.
      "skip-verify": undefined,
      "server-cert-file": undefined,
      "server-key-file": undefined,
      "trusted-ca-file": undefined,
    },
    defaults: {},
  });
}

/** What a user gave that has no effect, since Slipway manages it: `--secure-port`. */
export function ignoredFlags(user: readonly string[], composed: readonly string[]): string[] {
  return user.filter((flag) => !composed.includes(flag)).map((flag) => `--${nameOf(flag)}`);
}

/** The same for all of a plane's components, by the field: `spec.controlPlane.deployment.extraArgs.apiServer: --secure-port is managed`. */
export function ignoredExtraArgs(plane: Plane): string[] {
  const asIs: FileOf = (name) => name;
  const composed = {
    apiServer: apiServerFlags(plane, asIs),
    controllerManager: controllerManagerFlags(plane, asIs),
    scheduler: schedulerFlags(plane, asIs),
  };
  return (["apiServer", "controllerManager", "scheduler"] as const).flatMap((component) =>
    ignoredFlags(plane.extraArgs[component], composed[component]).map(
      (flag) => `spec.controlPlane.deployment.extraArgs.${component}: ${flag} is managed`,
    ),
  );
}

function compose(user: readonly string[], { managed, defaults }: OwnFlags): string[] {
  const given = new Set(user.map(nameOf));
  const own = Object.entries(managed).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const standing = Object.entries(defaults).filter(([name]) => !given.has(name));
  const ours = [...own, ...standing].map(([name, value]) => `--${name}=${value}`).sort();
  return [...ours, ...user.filter((flag) => !Object.hasOwn(managed, nameOf(flag)))];
}

function nameOf(flag: string): string {
  return flag.replace(/^--?/, "").split("=", 1)[0]!;
}
