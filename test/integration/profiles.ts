import { interfaceProfile, publicProfile } from '#simulator/deployment.ts'

/** The deployments for tests in which they can differ: `describe.each(profileNames)`. */
export const profiles = { interface: interfaceProfile, public: publicProfile }

export type ProfileName = keyof typeof profiles

export const profileNames: readonly ProfileName[] = ['interface', 'public']
