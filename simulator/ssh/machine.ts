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
}
