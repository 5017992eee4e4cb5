import { Fault } from "@slipway/base";
import type { KubeObject } from "@slipway/kube";
import type { Kind } from "./kind.ts";

/** Whether going from one of these versions of a kind to another takes more than another `apiVersion`. */
export function needsConversion(versions: readonly Kind[]): boolean {
  return versions.some((version) => version.conversion !== undefined);
}

/**
 * Turns objects of a kind into another of its versions, by way of the stored one, which is the first. The object is not changed.
 * Throws a `Fault` (`Invalid`) for versions that the kind does not have.
 */
export function converter(versions: readonly Kind[]): (object: KubeObject, apiVersion: string) => KubeObject {
  const known = new Map(versions.map((version) => [`${version.group}/${version.version}`, version]));
  const find = (apiVersion: string, kind: string): Kind => {
    const found = known.get(apiVersion);
    if (found === undefined) throw new Fault("Invalid", kind, `there is no version ${apiVersion}`);
    return found;
  };
  const [stored] = versions;
  return (object, apiVersion) => {
    const from = find(object.apiVersion, object.kind);
    const to = find(apiVersion, object.kind);
    if (from === to || stored === undefined) return object;
    const hub = { ...(from.conversion?.toStored(object) ?? object), apiVersion: `${stored.group}/${stored.version}` };
    return { ...(to.conversion?.fromStored(hub) ?? hub), apiVersion };
  };
}

/** The converters of those kinds that need one, by the name of their definition (`widgets.example.com`). */
export function convertersByDefinition(
  kinds: readonly (readonly Kind[])[],
): Record<string, (object: KubeObject, apiVersion: string) => KubeObject> {
  return Object.fromEntries(
    kinds
      .filter(needsConversion)
      .map((versions) => [`${versions[0]!.plural}.${versions[0]!.group}`, converter(versions)]),
  );
}

/** The converter for objects of several kinds, each given with all its versions. Throws a `Fault` (`Invalid`) for other kinds. */
export function converterOfAll(
  kinds: readonly (readonly Kind[])[],
): (object: KubeObject, apiVersion: string) => KubeObject {
  const converters = new Map(
    kinds.flatMap((versions) => versions.map((v) => [`${v.group}/${v.kind}`, converter(versions)])),
  );
  return (object, apiVersion) => {
    const name = `${object.apiVersion.split("/")[0]}/${object.kind}`;
    const convert = converters.get(name);
    if (convert === undefined) throw new Fault("Invalid", object.kind, `${object.apiVersion} is none of our kinds`);
    return convert(object, apiVersion);
  };
}
