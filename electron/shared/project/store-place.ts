import * as v from 'valibot'

const form = 'enter a place such as sftp://me@nas.example/backups/digits, s3:https://… or rest:https://…'

/** A repository of restic: the machine gets it as it is, so it has no spaces or quotes. */
export const StorePlace = v.pipe(
  v.string(form),
  v.maxLength(1024, 'at most 1024 characters'),
  v.regex(
    /^(?:sftp:\/\/[\w.-]+@[\w.-]+(?::\d{1,5})?\/[\w./~-]+|(?:s3|rest):https:\/\/[\w.-]+(?::\d{1,5})?\/[\w./~-]*)$/,
    form,
  ),
)

/** An SSH server's public key, as `ssh-keyscan` prints it without the host. */
export const HostKey = v.pipe(
  v.string('must be text'),
  v.trim(),
  v.regex(
    /^(?:ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(?:256|384|521)) [A-Za-z0-9+/]{40,2000}={0,2}(?: .*)?$/,
    'enter a public key such as ssh-ed25519 AAAA…',
  ),
  v.transform(key => key.split(' ').slice(0, 2).join(' ')),
)

/** A private key as ssh reads it, whose lines a single-line field may have joined. */
export function keyLines(key: string): string {
  const [, kind = '', body = ''] = /^\s*-----BEGIN ([A-Z ]+)-----([\s\S]+?)-----END/.exec(key) ?? []
  if (kind === '') return key
  const lines = body.replaceAll(/\s+/g, '').match(/.{1,70}/g) ?? []
  return [`-----BEGIN ${kind}-----`, ...lines, `-----END ${kind}-----`].join('\n')
}

/**
 * Variables for restic, of a key such as `ID:SECRET` for a bucket, or `user:password` for a server: that is part of the
 * address, as restic before 0.16 has no variables for it. restic never prints it.
 */
export function keyVariables(to: string, key: string): string {
  const [first = '', second = ''] = key.trim().split(/:(.*)/s)
  if (to.startsWith('s3:')) return `AWS_ACCESS_KEY_ID=${first}\nAWS_SECRET_ACCESS_KEY=${second}`
  const login = `${encodeURIComponent(first)}:${encodeURIComponent(second)}`
  return `RESTIC_REPOSITORY=${to.replace('//', `//${login}@`)}`
}
