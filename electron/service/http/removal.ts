import { ServiceError } from '../service-error.ts'

/** Waits for a removal. A repeat after a lost answer that finds nothing to remove counts as done. @throws ServiceError */
export async function removed(asked: Promise<unknown>): Promise<void> {
  try {
    await asked
  } catch (error) {
    const isGone = error instanceof ServiceError && error.status === 404 && error.code !== 'not_supported'
    if (!isGone || !error.ambiguous) throw error
  }
}
