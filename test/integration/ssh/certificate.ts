import { execFileSync } from 'node:child_process'

/** Makes a self-signed certificate for 127.0.0.1 and its key. */
export function makeCertificate(keyFile: string, certFile: string): void {
  const kind = ['-newkey', 'ed25519', '-nodes', '-days', '2']
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
  execFileSync('openssl', ['req', '-x509', ...kind, ...subject, '-keyout', keyFile, '-out', certFile], {
    stdio: 'ignore',
  })
}
