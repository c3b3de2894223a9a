/** What an instance can tell about itself. */
export interface Machine {
  instanceId: number
  /** As in the prompt, such as `C.4711`. */
  hostname: string
  gpu: { name: string; count: number /** MB per GPU */; memoryMb: number }
  /** What opens its Jupyter. */
  jupyterToken: string
  /** GPU load now, in percent. */
  utilisation: () => number
  watchdog: WatchdogPlace
}

/** Where an owner leaves a program that ends the instance. */
export interface WatchdogPlace {
  /** What is there: its configuration, its state and what it did last as lines `name=value`, and its log. */
  read(): WatchdogThere | null
  /** With the instance's own key, and a text for its lease where that is renewed. */
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
