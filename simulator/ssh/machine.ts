/** The facts that an instance knows about itself. */
export interface Machine {
  instanceId: number
  /** As in the prompt, such as `C.4711`. */
  hostname: string
  /** The variables that its container was started with. */
  environment: Readonly<Record<string, string>>
  /** Its address in an overlay; undefined outside any. */
  overlayAddress: () => string | undefined
  gpu: { name: string; count: number /** MB per GPU */; memoryMb: number }
  /** The token of its Jupyter. */
  jupyterToken: string
  /** GPU load now, in percent. */
  utilisation: () => number
  /** GB of its disk, as the service reports them. */
  disk: () => { size: number; used: number }
  /** Bytes that its network has moved since it was created. */
  moved: () => { received: number; sent: number }
  watchdog: WatchdogPlace
}

/** The place for an owner's program that ends the instance. */
export interface WatchdogPlace {
  /** The watchdog's configuration, its state and last action as lines `name=value`, and its log; null without one. */
  read(): WatchdogThere | null
  /** Places a watchdog with the instance's own key; `lease` is a new text for each renewal. */
  put(config: string, lease: string): void
  renew(lease: string): void
  remove(): void
}

export interface WatchdogThere {
  config: string
  state: readonly string[]
  /** Such as `1763841600 stop idle`. */
  did: string | undefined
  log: readonly string[]
}
