/** Why a container cannot be started: its image cannot be had, or what it asks of the machine. */
export type StartFailure = 'image' | 'container'

/** What the service's line says of a container that was made and never starts; undefined where it says nothing of that. */
export function startFailure(message: string | undefined): StartFailure | undefined {
  const line = message?.toLowerCase() ?? ''
  if (line.includes('manifest unknown') || line.includes('pull access denied')) return 'image'
  return line.includes('oci runtime create failed') ? 'container' : undefined
}
