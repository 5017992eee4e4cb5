/** A program that is built from a Go module. */
export interface Binary {
  /** The file's name in the assets folder. */
  name: string;
  /** The Go module that knows its dependencies: a folder below this one with a `go.mod`. */
  module: string;
  /** The main package: an import path, or `./…` for our own. */
  package: string;
  /** The Kubernetes version it says it is; kubeadm and the checks of version skew look at it. */
  kubernetes?: string;
  /** The requirements, where the module has them for several versions: a `.mod` file in its folder, with a `.sum` beside it. */
  requirements?: string;
  /** Go's build tags, by commas. */
  tags?: string;
  /** Unset: this machine's. */
  architecture?: "amd64" | "arm64";
  /** It has parts in C: a C compiler is needed, and the program is linked statically. */
  cgo?: true;
  /** A package's tests as a program. */
  test?: true;
  /** The file's name in the folder of its own version of Kubernetes, where it is found by that, too. */
  ofRelease?: string;
  /** Built only when it is named. */
  onDemand?: true;
}
