"""A client of Wharf nodes, of the standard library alone.

Wharf is the client; AsyncWharf does the same for asyncio. Every write carries an idempotency key, so
that it can be sent again without being done twice; the client does so when the node does not answer, or asks it
to come back later. Streams go on where they were cut. An error of the node is a WharfError.
"""

from .aio import AsyncSocket as AsyncSocket, AsyncWharf as AsyncWharf
from .client import PROTOCOL_VERSION as PROTOCOL_VERSION, Stop as Stop, Wharf as Wharf, ended as ended, needs_answer as needs_answer, say as say, text as text
from .errors import CutError as CutError, ReceiptError as ReceiptError, SocketClosed as SocketClosed, WharfError as WharfError
from .generated import *
from .receipt import VerifiedReceipt as VerifiedReceipt, verify_receipt as verify_receipt
from .socket import Frame as Frame, Socket as Socket

__version__ = "0.2.0"
