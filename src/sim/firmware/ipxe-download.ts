import { type Http, type HttpAnswer, isFault } from "@slipway/base";

/** What an URL turned out to be: a script, or something too large to fetch in a simulation. */
export type Downloaded = { is: "script"; text: string } | { is: "binary" } | { is: "error"; message: string };

export interface DownloadOptions {
  http: Http;
  signal: AbortSignal;
  /** `none`: a build without HTTPS. `distrusts`: hosts whose certificate its root does not know. */
  tls?: "none" | { distrusts: (host: string) => boolean };
  /** Whether a kernel, initrd or image exists under this URL; unset: it does. */
  imageExists?: (url: string) => boolean;
}

const IMAGE = /(vmlinuz|initrd|bzimage|memdisk)[^/]*$|\.(efi|iso|img|squashfs|gz|xz|cpio)$/i;

/** Names an URL in a message without its path's secrets: host and last segment. */
export function shownUrl(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null) return "the URL";
  const segments = parsed.pathname.split("/").filter((s) => s !== "");
  const last = segments.at(-1);
  return `${parsed.origin}${segments.length > 1 ? "/…" : ""}${last === undefined ? "/" : `/${last}`}`;
}

/** Fetches what a script names. Kernels and other large images are looked up, not transferred. Errors are worded as iPXE prints them. */
export async function download(url: string, options: DownloadOptions, redirects = 5): Promise<Downloaded> {
  const { http, signal, tls, imageExists } = options;
  const parsed = URL.parse(url);
  if (parsed === null || parsed.protocol === "tftp:") return error(url, "No such file or directory");
  const refused = schemeProblem(parsed, tls);
  if (refused !== undefined) return error(url, refused);
  if (IMAGE.test(parsed.pathname)) {
    return (imageExists?.(url) ?? true) ? { is: "binary" } : error(url, "No such file or directory (HTTP 404)");
  }
  try {
    const headers = { "user-agent": "iPXE/1.21.1+ (simulated)" };
    const answer = await http({ method: "GET", url, headers, signal });
    const location = URL.parse(answer.headers.location ?? "", url)?.href;
    const redirected = answer.status > 300 && answer.status < 400;
    if (redirected && location !== undefined && redirects > 0) return download(location, options, redirects - 1);
    return scriptOf(url, answer);
  } catch (fault) {
    signal.throwIfAborted();
    if (isFault(fault, "Unavailable")) return error(url, `No route to host: ${fault.message}`);
    return error(url, "Connection timed out");
  }
}

/** Why this build of iPXE does not fetch from there; undefined: it does. */
function schemeProblem({ protocol, host }: URL, tls: DownloadOptions["tls"]): string | undefined {
  if (!/^https?:$/.test(protocol)) return "Operation not supported";
  if (protocol === "http:") return undefined;
  if (tls === "none") return "Operation not supported: this iPXE was built without HTTPS";
  return tls?.distrusts(host) ? "Permission denied: the server's certificate is not trusted" : undefined;
}

function scriptOf(url: string, { status, body }: HttpAnswer): Downloaded {
  if (status !== 200) return error(url, `${statusText(status)} (HTTP ${status})`);
  if (body.startsWith("#!ipxe") || body.startsWith("#!gpxe")) return { is: "script", text: body };
  return error(url, "Exec format error: not an iPXE script or a bootable image");
}

function error(url: string, message: string): Downloaded {
  return { is: "error", message: `${shownUrl(url)}... ${message}` };
}

function statusText(status: number): string {
  if (status === 404 || status === 410) return "No such file or directory";
  if (status === 401 || status === 403) return "Permission denied";
  return "Input/output error";
}
