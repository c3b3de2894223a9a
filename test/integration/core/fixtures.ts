import { test as base } from 'vitest'
import { createWorld, type World } from './world.ts'

/** A test that opens worlds; they are closed as it ends, also when others run at the same time. */
export const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern what a fixture needs
  .extend('openWorld', async ({}, { onCleanup }) => {
    const opened: World[] = []
    onCleanup(async () => void (await Promise.all(opened.map(world => world.close()))))
    return async (...options: Parameters<typeof createWorld>): Promise<World> => {
      const world = await createWorld(...options)
      opened.push(world)
      return world
    }
  })
