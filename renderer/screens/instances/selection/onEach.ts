import { instanceName } from '#contract/format/name.ts'
import type { InstanceView } from '#contract/instance/instance.ts'
import { BerthError } from '#contract/problem.ts'
import { answerProblem } from '#renderer/berth/page.svelte.ts'

/** Does it for each instance in turn, also after a failure; throws `not_done`, naming those that failed and why. */
export async function onEach(
  instances: readonly InstanceView[],
  act: (instance: InstanceView) => Promise<unknown>,
): Promise<void> {
  const failed: string[] = []
  let why: string | undefined
  for (const instance of instances)
    try {
      await act(instance)
    } catch (error) {
      failed.push(instanceName(instance))
      why ??= answerProblem(error).message
    }
  if (failed.length > 0)
    throw new BerthError({
      code: 'not_done',
      message: `This did not work for ${failed.length} of ${instances.length}: ${failed.join(', ')}.`,
      advice: why,
    })
}
