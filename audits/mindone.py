"""mindone's ports of transformers beside the originals: small configurations, evaluation phase.

A family stands with its base network. What a configuration has is what `tiny` says, and OWN. A
port that is not equal is in DIFFERS or REFUSED.
"""

from collections.abc import Mapping
from typing import Any

from audits import Port
from equivalence.declare.difference import Difference, Raised  # noqa: F401 - Raised is for rows
from equivalence.declare.draws import integers, normal
from equivalence.declare.twin import Twin

IDS = integers(2, 7, low=3, high=90)
"""Places in a vocabulary; none of them pads."""

PIXELS = normal(2, 3, 32, 32)

TEXT: Mapping[str, Any] = {"input_ids": IDS}
TO_TEXT: Mapping[str, Any] = {"input_ids": IDS, "decoder_input_ids": IDS}
PICTURES: Mapping[str, Any] = {"pixel_values": PIXELS}
TEXT_AND_PICTURES: Mapping[str, Any] = {"input_ids": IDS, "pixel_values": PIXELS}

NETWORKS: tuple[tuple[Mapping[str, Any], str], ...] = (
    (
        TEXT,
        """
        albert AlbertModel
        apertus ApertusModel
        arcee ArceeModel
        bert BertModel
        big_bird BigBirdModel
        biogpt BioGptModel
        bloom BloomModel
        camembert CamembertModel
        canine CanineModel
        codegen CodeGenModel
        cohere CohereModel
        cohere2 Cohere2Model
        convbert ConvBertModel
        ctrl CTRLModel
        deberta DebertaModel
        deberta_v2 DebertaV2Model
        diffllama DiffLlamaModel
        distilbert DistilBertModel
        doge DogeModel
        electra ElectraModel
        ernie ErnieModel
        ernie4_5 Ernie4_5Model
        esm EsmModel
        exaone4 Exaone4Model
        falcon FalconModel
        flaubert FlaubertModel
        flex_olmo FlexOlmoModel
        fnet FNetModel
        funnel FunnelModel
        fuyu FuyuModel
        gemma GemmaModel
        gemma2 Gemma2Model
        glm GlmModel
        glm4 Glm4Model
        glm4_moe Glm4MoeModel
        gpt2 GPT2Model
        gpt_bigcode GPTBigCodeModel
        gpt_neo GPTNeoModel
        gpt_neox GPTNeoXModel
        gpt_neox_japanese GPTNeoXJapaneseModel
        gptj GPTJModel
        granite GraniteModel
        granitemoe GraniteMoeModel
        granitemoeshared GraniteMoeSharedModel
        helium HeliumModel
        hunyuan_v1_dense HunYuanDenseV1Model
        hunyuan_v1_moe HunYuanMoEV1Model
        ibert IBertModel
        jetmoe JetMoeModel
        layoutlm LayoutLMModel
        lfm2 Lfm2Model
        llama LlamaModel
        llama4 Llama4TextModel
        longformer LongformerModel
        mamba MambaModel
        markuplm MarkupLMModel
        megatron_bert MegatronBertModel
        minimax MiniMaxModel
        ministral MinistralModel
        mistral MistralModel
        mixtral MixtralModel
        mobilebert MobileBertModel
        modernbert ModernBertModel
        modernbert_decoder ModernBertDecoderModel
        moshi MoshiModel
        mpnet MPNetModel
        mpt MptModel
        mra MraModel
        nemotron NemotronModel
        nystromformer NystromformerModel
        olmo OlmoModel
        olmo2 Olmo2Model
        olmo3 Olmo3Model
        olmoe OlmoeModel
        opt OPTModel
        persimmon PersimmonModel
        phi PhiModel
        phi3 Phi3Model
        phimoe PhimoeModel
        qwen2 Qwen2Model
        qwen2_moe Qwen2MoeModel
        qwen3 Qwen3Model
        qwen3_moe Qwen3MoeModel
        qwen3_next Qwen3NextModel
        recurrent_gemma RecurrentGemmaModel
        rembert RemBertModel
        roberta RobertaModel
        roberta_prelayernorm RobertaPreLayerNormModel
        roformer RoFormerModel
        rwkv RwkvModel
        seed_oss SeedOssModel
        smollm3 SmolLM3Model
        splinter SplinterModel
        squeezebert SqueezeBertModel
        stablelm StableLmModel
        starcoder2 Starcoder2Model
        tapas TapasModel
        vaultgemma VaultGemmaModel
        visual_bert VisualBertModel
        xglm XGLMModel
        xlm XLMModel
        xlm_roberta XLMRobertaModel
        xlm_roberta_xl XLMRobertaXLModel
        xlnet XLNetModel
        xlstm xLSTMModel
        yoso YosoModel
        """,
    ),
    (
        TO_TEXT,
        """
        bart BartModel
        bigbird_pegasus BigBirdPegasusModel
        blenderbot BlenderbotModel
        blenderbot_small BlenderbotSmallModel
        fsmt FSMTModel
        led LEDModel
        longt5 LongT5Model
        m2m_100 M2M100Model
        marian MarianModel
        mbart MBartModel
        mt5 MT5Model
        mvp MvpModel
        nllb_moe NllbMoeModel
        pegasus PegasusModel
        pegasus_x PegasusXModel
        plbart PLBartModel
        prophetnet ProphetNetModel
        switch_transformers SwitchTransformersModel
        t5 T5Model
        umt5 UMT5Model
        """,
    ),
    (
        PICTURES,
        """
        beit BeitModel
        deit DeiTModel
        dinov2 Dinov2Model
        dinov2_with_registers Dinov2WithRegistersModel
        dinov3_vit DINOv3ViTModel
        ijepa IJepaModel
        instructblip InstructBlipVisionModel
        instructblipvideo InstructBlipVideoVisionModel
        mlcd MLCDVisionModel
        mobilenet_v2 MobileNetV2Model
        pixtral PixtralVisionModel
        vit ViTModel
        vit_mae ViTMAEModel
        vit_msn ViTMSNModel
        vitdet VitDetModel
        """,
    ),
    (
        TEXT_AND_PICTURES,
        """
        altclip AltCLIPModel
        blip BlipModel
        chinese_clip ChineseCLIPModel
        clip CLIPModel
        clipseg CLIPSegModel
        flava FlavaModel
        git GitModel
        groupvit GroupViTModel
        metaclip_2 MetaClip2Model
        owlv2 Owlv2Model
        owlvit OwlViTModel
        siglip SiglipModel
        vilt ViltModel
        """,
    ),
)
"""Inputs, and lines of families and their networks that take them."""

OWN: Mapping[str, Mapping[str, Any]] = {
    "gpt_neo": {"attention_types": [[["global", "local"], 1]]},
}
"""Family -> what its configuration has otherwise."""

DIFFERS: Mapping[str, Difference] = {}
"""Family -> the known difference."""

REFUSED: Mapping[str, Difference] = {}
"""Family -> why the two cannot be compared."""

NOT_TRIED: Mapping[str, str] = {
    "aimv2": "no small configuration yet",
    "align": "no small configuration yet",
    "aria": "no small configuration yet",
    "audio_spectrogram_transformer": "no small configuration yet",
    "auto": "no base network with an original of its name",
    "aya_vision": "no small configuration yet",
    "bamba": "no base network with an original of its name",
    "bark": "no small configuration yet",
    "bert_generation": "no base network with an original of its name",
    "bit": "no small configuration yet",
    "blip_2": "no small configuration yet",
    "blt": "no small configuration yet",
    "bridgetower": "no small configuration yet",
    "bros": "no small configuration yet",
    "chameleon": "no small configuration yet",
    "clap": "no small configuration yet",
    "clvp": "no small configuration yet",
    "cohere2_vision": "no small configuration yet",
    "colpali": "no base network with an original of its name",
    "colqwen2": "no base network with an original of its name",
    "convnext": "no small configuration yet",
    "convnextv2": "no small configuration yet",
    "csm": "no small configuration yet",
    "cvt": "no small configuration yet",
    "d_fine": "no small configuration yet",
    "dac": "no small configuration yet",
    "data2vec": "no base network with an original of its name",
    "dbrx": "no small configuration yet",
    "deepseek_v2": "no small configuration yet",
    "deepseek_vl": "no small configuration yet",
    "deepseek_vl_hybrid": "no small configuration yet",
    "depth_anything": "no base network with an original of its name",
    "depth_pro": "no small configuration yet",
    "dia": "no small configuration yet",
    "dinov3_convnext": "no small configuration yet",
    "dots1": "no small configuration yet",
    "dpr": "no base network with an original of its name",
    "dpt": "no small configuration yet",
    "efficientloftr": "no small configuration yet",
    "efficientnet": "no small configuration yet",
    "emu3": "no small configuration yet",
    "encodec": "no small configuration yet",
    "encoder_decoder": "no small configuration yet",
    "eomt": "no base network with an original of its name",
    "ernie4_5_moe": "no small configuration yet",
    "evolla": "no small configuration yet",
    "falcon_h1": "no small configuration yet",
    "falcon_mamba": "no small configuration yet",
    "fastspeech2_conformer": "no small configuration yet",
    "florence2": "no small configuration yet",
    "focalnet": "no small configuration yet",
    "gemma3": "no small configuration yet",
    "glm4v": "no small configuration yet",
    "glpn": "no small configuration yet",
    "got_ocr2": "no small configuration yet",
    "granite_speech": "no base network with an original of its name",
    "granitemoehybrid": "no small configuration yet",
    "grounding_dino": "no small configuration yet",
    "hgnet_v2": "no base network with an original of its name",
    "hiera": "no small configuration yet",
    "hubert": "no small configuration yet",
    "idefics": "no small configuration yet",
    "idefics2": "no small configuration yet",
    "idefics3": "no small configuration yet",
    "imagegpt": "no small configuration yet",
    "internvl": "no small configuration yet",
    "jamba": "no small configuration yet",
    "janus": "no small configuration yet",
    "kosmos2": "no small configuration yet",
    "kosmos2_5": "no small configuration yet",
    "kyutai_speech_to_text": "no small configuration yet",
    "layoutlmv3": "no small configuration yet",
    "levit": "no small configuration yet",
    "lfm2_vl": "no small configuration yet",
    "lilt": "no small configuration yet",
    "llava": "no base network with an original of its name",
    "llava_next": "no small configuration yet",
    "llava_next_video": "no small configuration yet",
    "llava_onevision": "no small configuration yet",
    "luke": "no small configuration yet",
    "mamba2": "no small configuration yet",
    "mask2former": "no small configuration yet",
    "maskformer": "no small configuration yet",
    "mgp_str": "no small configuration yet",
    "mimi": "no small configuration yet",
    "minicpm4": "no base network with an original of its name",
    "minicpmv_4_5": "no base network with an original of its name",
    "mistral3": "no small configuration yet",
    "mllama": "no small configuration yet",
    "mm_grounding_dino": "no small configuration yet",
    "mobilenet_v1": "no small configuration yet",
    "mobilevit": "no small configuration yet",
    "mobilevitv2": "no small configuration yet",
    "moonshine": "no small configuration yet",
    "musicgen": "no small configuration yet",
    "musicgen_melody": "no small configuration yet",
    "oneformer": "no small configuration yet",
    "ovis2": "no small configuration yet",
    "paligemma": "no small configuration yet",
    "parakeet": "no base network with an original of its name",
    "perceiver": "no small configuration yet",
    "phi4_multimodal": "no small configuration yet",
    "pix2struct": "no small configuration yet",
    "poolformer": "no small configuration yet",
    "pop2piano": "no base network with an original of its name",
    "prompt_depth_anything": "no base network with an original of its name",
    "pvt": "no small configuration yet",
    "pvt_v2": "no small configuration yet",
    "qwen2_5_omni": "no small configuration yet",
    "qwen2_5_vl": "no small configuration yet",
    "qwen2_audio": "no base network with an original of its name",
    "qwen2_vl": "no small configuration yet",
    "qwen3_omni_moe": "no small configuration yet",
    "qwen3_vl": "no small configuration yet",
    "qwen3_vl_moe": "no small configuration yet",
    "rag": "no small configuration yet",
    "reformer": "no small configuration yet",
    "regnet": "no small configuration yet",
    "resnet": "no small configuration yet",
    "roc_bert": "no small configuration yet",
    "rt_detr": "no small configuration yet",
    "rt_detr_v2": "no small configuration yet",
    "sam": "no small configuration yet",
    "sam2": "no small configuration yet",
    "sam2_video": "no small configuration yet",
    "sam_hq": "no small configuration yet",
    "seamless_m4t": "no small configuration yet",
    "seamless_m4t_v2": "no small configuration yet",
    "segformer": "no small configuration yet",
    "seggpt": "no small configuration yet",
    "sew": "no small configuration yet",
    "sew_d": "no small configuration yet",
    "shieldgemma2": "no base network with an original of its name",
    "siglip2": "no small configuration yet",
    "smolvlm": "no small configuration yet",
    "speech_encoder_decoder": "no small configuration yet",
    "speech_to_text": "no small configuration yet",
    "speecht5": "no small configuration yet",
    "swiftformer": "no small configuration yet",
    "swin": "no small configuration yet",
    "swin2sr": "no small configuration yet",
    "swinv2": "no small configuration yet",
    "t5gemma": "no small configuration yet",
    "table_transformer": "no small configuration yet",
    "textnet": "no small configuration yet",
    "timesfm": "no small configuration yet",
    "timesformer": "no small configuration yet",
    "trocr": "no base network with an original of its name",
    "tvp": "no small configuration yet",
    "udop": "no small configuration yet",
    "ultravox": "no base network with an original of its name",
    "unispeech": "no small configuration yet",
    "unispeech_sat": "no small configuration yet",
    "univnet": "no small configuration yet",
    "upernet": "no base network with an original of its name",
    "video_llava": "no small configuration yet",
    "videomae": "no small configuration yet",
    "vipllava": "no small configuration yet",
    "vision_encoder_decoder": "no small configuration yet",
    "vision_text_dual_encoder": "no small configuration yet",
    "vitmatte": "no base network with an original of its name",
    "vitpose": "no base network with an original of its name",
    "vitpose_backbone": "no base network with an original of its name",
    "vits": "no small configuration yet",
    "vivit": "no small configuration yet",
    "vjepa2": "no small configuration yet",
    "voxtral": "no base network with an original of its name",
    "wav2vec2": "no small configuration yet",
    "wav2vec2_bert": "no small configuration yet",
    "wav2vec2_conformer": "no small configuration yet",
    "wavlm": "no small configuration yet",
    "whisper": "no small configuration yet",
    "x_clip": "no small configuration yet",
    "xcodec": "no small configuration yet",
    "xmod": "no small configuration yet",
    "yolos": "no small configuration yet",
    "zamba": "no small configuration yet",
    "zamba2": "no small configuration yet",
    "zoedepth": "no base network with an original of its name",
}
"""Family -> why no row compares it."""


def port(family: str, network: str, inputs: Mapping[str, Any]) -> Port:
    """A row: a family's network and its original of the same name."""
    config = {"family": family, "name": network, **OWN.get(family, {})}
    twin = Twin(
        f"mindone_{family}",
        "audits.pt.mindone:network",
        "audits.ms.mindone:network",
        dict(inputs),
        configs=(config,),
        phases=("eval",),
        executions=("pynative",),
        level="nightly",
        differs=DIFFERS.get(family),
    )
    return Port(network, f"transformers {network}", family, twin, REFUSED.get(family))


PORTS = tuple(
    sorted(
        (
            port(*line.split(), inputs)
            for inputs, lines in NETWORKS
            for line in lines.strip().splitlines()
        ),
        key=lambda port: port.family,
    )
)
