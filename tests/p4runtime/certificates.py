"""Certificates for tests: an authority, and who it vouches for."""

from __future__ import annotations

import datetime
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_DAY = datetime.timedelta(days=1)


class Authority:
    def __init__(self, directory: Path, name: str) -> None:
        self._directory = directory
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name(name)
        builder = self._builder(self._name, self._key).add_extension(
            x509.BasicConstraints(ca=True, path_length=None), critical=True
        )
        self.certificate = directory / f"{name}.pem"
        self._write(self.certificate, builder)

    def vouch_for(self, name: str, *, days: int = 1) -> tuple[Path, Path]:
        """Files of a certificate, for 127.0.0.1, and of its key. days: when it ends, from now."""
        key = ec.generate_private_key(ec.SECP256R1())
        address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
        builder = self._builder(_name(name), key, days).add_extension(
            x509.SubjectAlternativeName([address]), critical=False
        )
        certificate, key_file = self._directory / f"{name}.pem", self._directory / f"{name}.key"
        self._write(certificate, builder)
        key_file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        return certificate, key_file

    def _builder(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, days: int = 1
    ) -> x509.CertificateBuilder:
        now = datetime.datetime.now(datetime.UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - 30 * _DAY)
            .not_valid_after(now + days * _DAY)
        )

    def _write(self, path: Path, builder: x509.CertificateBuilder) -> None:
        signed = builder.sign(self._key, hashes.SHA256())
        path.write_bytes(signed.public_bytes(serialization.Encoding.PEM))


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])
