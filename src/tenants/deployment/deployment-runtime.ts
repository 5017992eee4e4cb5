import { Fault, isFault } from "@slipway/base";
import { ConfigMap, Deployment, Ingress, Secret, Service } from "@slipway/kube/core";
import type { CompleteSpec } from "../../kinds/kamaji/defaults.ts";
import type { Observed, Plane } from "../plane.ts";
import type { Home, Place, Placeless, Runtime } from "../runtime.ts";
import { type Lookup, systemLookup, withAddress } from "./advertised.ts";
import { Applied } from "./applied.ts";
import { takenNames } from "./check.ts";
import { ignoredArguments } from "./containers.ts";
import { deploymentOf } from "./deployment.ts";
import { ingressOf } from "./ingress.ts";
import { storeAuthorityOf } from "./kine.ts";
import { egressName, egressOf } from "./konnectivity.ts";
import { observedOf } from "./observed.ts";
import { Routes } from "./routes.ts";
import { placeOf, serviceOf } from "./service.ts";
import type { Wanted } from "./wanted.ts";

const REMOVING_MS = 5_000;

/**
 * Tenants' control planes as Deployments of the management cluster, each behind a Service. Keeps nothing: what it decides by is what the
 * controller's cache has. Everything is owned by the tenant's object, and goes with it.
 */
export class DeploymentRuntime implements Runtime {
  readonly name = "deployment";
  readonly hasKonnectivity = true;
  readonly #applied = new Applied({ ofTenants: true });
  readonly #lookup: Lookup;
  readonly #routes = new Routes(this.#applied);
  readonly #kineImage: string | undefined;

  /** `lookup`: finds the addresses of load balancers' names; the system's unless given. `kineImage`: of kine, where a tenant names none. */
  constructor({ lookup = systemLookup, kineImage }: { lookup?: Lookup; kineImage?: string | undefined } = {}) {
    this.#lookup = lookup;
    this.#kineImage = kineImage;
  }

  /** Where its Service is reached. The Service comes first: certificates and Pods name its address. */
  async place(
    _id: string,
    _wanted: unknown,
    { spec, ...home }: Home & { spec: CompleteSpec },
  ): Promise<Place | Placeless> {
    const service = await this.#applied.keep(home, Service, serviceOf({ ...home, spec }));
    return placeOf({ spec }, service);
  }

  async releaseOf(minor: string): Promise<string> {
    // Each minor's first release is where its images are.
    return `${minor}.0`;
  }

  async ensure(
    plane: Plane,
    _signal: AbortSignal,
    { spec, ...home }: Home & { spec: CompleteSpec },
  ): Promise<Observed> {
    const { tenant, cache } = home;
    const ref = refOf(home);
    const reached = await withAddress(plane, cache.get(Deployment, ref), this.#lookup);
    const wanted: Wanted = { tenant, spec, plane: reached, ...(this.#kineImage && { kineImage: this.#kineImage }) };
    const rendered = deploymentOf(wanted);
    const taken = takenNames(rendered.spec!.template!.spec!, wanted);
    if (taken.length > 0)
      throw new Fault("Invalid", `Deployment/${tenant.metadata.name}`, taken.join("; "), {
        remedy: "choose other names",
      });
    const { uid } = tenant.metadata;
    // What Pods need before they start, and what they need no longer after they are replaced.
    if (plane.konnectivity !== undefined) await this.#applied.keep(home, ConfigMap, egressOf(wanted));
    const authority = storeAuthorityOf(wanted);
    if (authority !== undefined) await this.#applied.keep(home, Secret, authority);
    const deployment = await this.#applied.keep(home, Deployment, rendered);
    if (plane.konnectivity === undefined)
      await this.#applied.drop(home, ConfigMap, { ...ref, name: egressName(ref.name) }, uid);
    const ingress = await this.#ingress(home, wanted);
    const { gateway, tunnel } = await this.#routes.keep(home, wanted);
    const service = cache.get(Service, ref);
    return {
      ...observedOf(wanted, { deployment, service, ingress, gateway }),
      ...(tunnel !== undefined && { tunnelRoute: tunnel }),
      ignored: ignoredOf(wanted),
    };
  }

  /** Deletes the Deployment and waits for its Pods; the rest goes with the tenant's object. */
  async remove(_id: string, home: Home): Promise<void> {
    const ref = refOf(home);
    const { client, cache } = home;
    const live = cache.get(Deployment, ref);
    const isOurs = live?.metadata.ownerReferences?.some(({ uid }) => uid === home.tenant.metadata.uid);
    if (live === undefined || isOurs !== true) return;
    if (live.metadata.deletionTimestamp === undefined)
      await client.delete(Deployment, ref, { uid: live.metadata.uid, propagation: "Foreground" });
    // Its deletion is an event that the controller waits for.
    throw new Fault("Unavailable", `Deployment/${ref.name}`, "it and its Pods are not gone yet", {
      retryAfterMs: REMOVING_MS,
    });
  }

  onChange(): () => void {
    // Its objects are watched by the controller.
    return () => undefined;
  }

  async close(): Promise<void> {}

  async #ingress(home: Home, wanted: Wanted): Promise<Ingress | undefined> {
    const rendered = ingressOf(wanted);
    if (rendered !== undefined) {
      try {
        return await this.#applied.keep(home, Ingress, rendered);
      } catch (error) {
        if (!isFault(error, "NotFound")) throw error;
        throw new Fault("Unsupported", `Ingress/${wanted.tenant.metadata.name}`, "this cluster serves no Ingresses", {
          remedy: "remove spec.controlPlane.ingress",
          cause: error,
        });
      }
    }
    await this.#applied.drop(home, Ingress, refOf(home), wanted.tenant.metadata.uid);
    return undefined;
  }
}

function refOf({ tenant }: Home): { namespace: string; name: string } {
  return { namespace: tenant.metadata.namespace!, name: tenant.metadata.name };
}

/** What the specification says without effect, and why. */
export function ignoredOf(wanted: Wanted): string[] {
  const { ingress, gateway } = wanted.spec.controlPlane;
  return [
    ...ignoredArguments(wanted),
    ...(ingress !== undefined && !ingress.hostname
      ? ["spec.controlPlane.ingress: without a hostname there is no Ingress"]
      : []),
    ...(gateway !== undefined && !gateway.hostname
      ? ["spec.controlPlane.gateway: without a hostname there are no routes"]
      : []),
  ];
}
