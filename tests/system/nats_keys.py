"""Keys and certificates for the servers of a fleet, made by openssl: NKeys, credentials, a certificate of a server."""
import base64
import binascii
import json
import os
import subprocess

import lab

OPERATOR, ACCOUNT, USER = 14 << 3, 0, 20 << 3  # first letters O, A, U of public keys
SEED = 18 << 3  # S
UNLIMITED = dict.fromkeys(('subs', 'data', 'payload', 'imports', 'exports', 'conn', 'leaf'), -1) | {'wildcards': True}
STREAMS = dict.fromkeys(('mem_storage', 'disk_storage', 'streams', 'consumer'), -1)


def openssl(*arguments):
    return subprocess.run([lab.installed('openssl'), *arguments], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout


def write(folder, name, text):
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, name)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)
    return path


def _text(prefix, key):
    """As keys are written: base32 of a prefix, the key and a checksum."""
    data = prefix + key
    return base64.b32encode(data + binascii.crc_hqx(data, 0).to_bytes(2, 'little')).decode().rstrip('=')


class NKey:
    def __init__(self, folder, name, kind=USER):
        self.pem = os.path.join(folder, name + '.private.pem')
        os.makedirs(folder, exist_ok=True)
        openssl('genpkey', '-algorithm', 'ed25519', '-out', self.pem)
        secret = openssl('pkey', '-in', self.pem, '-outform', 'DER')[-32:]
        self.seed = _text(bytes([SEED | kind >> 5, (kind & 31) << 3]), secret)
        self.public = _text(bytes([kind]), openssl('pkey', '-in', self.pem, '-pubout', '-outform', 'DER')[-32:])

    def write(self, folder):
        """As a daemon wants it."""
        write(folder, 'nkey.seed', self.seed + '\n')
        write(folder, 'nkey.pub', self.public + '\n')

    def claim(self, subject, claims):
        """A JSON web token about the key of another one, or the own one."""
        def encode(data):
            return base64.urlsafe_b64encode(data).decode().rstrip('=')
        claims = {'jti': subject.public, 'iat': 1700000000, 'iss': self.public, 'name': 'holter', 'sub': subject.public,
                  'nats': claims | {'version': 2}}
        body = '.'.join(encode(json.dumps(part).encode()) for part in ({'typ': 'JWT', 'alg': 'ed25519-nkey'}, claims))
        path = write(os.path.dirname(self.pem), 'claim', body)
        return body + '.' + encode(openssl('pkeyutl', '-sign', '-rawin', '-inkey', self.pem, '-in', path))


def make_credentials(folder, keys):
    """A file user.creds in the folder `keys`. @return the configuration that makes a server accept it"""
    operator, system, account, user = (NKey(folder, name, kind) for name, kind in (
        ('operator', OPERATOR), ('system', ACCOUNT), ('account', ACCOUNT), ('user', USER)))
    token = account.claim(user, {'type': 'user', 'subs': -1, 'data': -1, 'payload': -1})
    write(keys, 'user.creds', f'-----BEGIN NATS USER JWT-----\n{token}\n------END NATS USER JWT------\n\n'
          f'-----BEGIN USER NKEY SEED-----\n{user.seed}\n------END USER NKEY SEED------\n')
    claims = [f"{key.public}: {operator.claim(key, {'type': 'account', 'limits': limits})}"
              for key, limits in ((system, UNLIMITED), (account, UNLIMITED | STREAMS))]
    return (f"operator: {operator.claim(operator, {'type': 'operator'})}\nsystem_account: {system.public}\nresolver: MEMORY\n"
            f"resolver_preload: {{ {', '.join(claims)} }}\n")


def make_certificate(folder, name, address='IP:127.0.0.1'):
    """@return paths of a certificate, which is its own authority, and of its key"""
    os.makedirs(folder, exist_ok=True)
    certificate, key = (os.path.join(folder, name + ending) for ending in ('.pem', '-key.pem'))
    openssl('req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2', '-subj', '/CN=holter',
            '-addext', f'subjectAltName={address}', '-keyout', key, '-out', certificate)
    return certificate, key
